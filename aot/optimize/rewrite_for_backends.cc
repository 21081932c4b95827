#include <cstring>
#include <vector>

#include "aot/operators/call.h"
#include "aot/operators/infer.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kSlice = "aten.slice_copy.Tensor";

Node* slice_like(Node& at, Node& input, int64_t dim, int64_t start, int64_t end) {
  ArgumentList args = {&input, dim, start, end};
  Value value = infer(edge(kSlice), args);
  return insert_like(at, edge(kSlice), std::move(args), {}, std::move(value));
}

// Replaces x * 2 with x * tensor(2).
bool replace_scalar(ExportedProgram& program, Node& node) {
  const Argument* given = node.arg(1);
  const auto* real = given == nullptr ? nullptr : given->get<double>();
  const Node* input = tensor_arg(node, 0);
  if (real == nullptr || input == nullptr || node.tensor() == nullptr ||
      input->tensor()->dtype != ScalarType::kFloat || node.tensor()->dtype != ScalarType::kFloat ||
      &node.graph() != program.graph.get()) {
    return false;
  }
  const auto value = static_cast<float>(*real);
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  Node* constant = program.add_constant("_scalar_tensor_constant",
                                        make_tensor_data(ScalarType::kFloat, {}, bytes));
  Node* made = insert_like(node, edge("aten.mul.Tensor"), {tensor_arg(node, 0), constant}, {},
                           node.meta.value);
  replace_node(program, node, *made);
  return true;
}

// Replaces select(x, dim, i) with a view of a slice.
bool replace_select(ExportedProgram& program, Node& node) {
  Node* input = tensor_arg(node, 0);
  const Argument* index = node.arg(2);
  if (input == nullptr || node.tensor() == nullptr || index == nullptr ||
      index->get<int64_t>() == nullptr || !input->tensor()->is_static()) {
    return false;
  }
  const size_t dim = wrapped(Call(node).integer("dim"), input->tensor()->rank());
  const int64_t length = input->tensor()->sizes.at(dim).value();
  const int64_t at = *index->get<int64_t>() + (*index->get<int64_t>() < 0 ? length : 0);
  Node* slice = slice_like(node, *input, static_cast<int64_t>(dim), at, at + 1);
  ArgumentList sizes;
  for (const SymInt& size : node.tensor()->sizes) sizes.emplace_back(size.value());
  Node* view = insert_like(node, edge("aten.view_copy.default"),
                           {slice, Argument::list(std::move(sizes))}, {}, node.meta.value);
  replace_node(program, node, *view);
  return true;
}

// Replaces each part of a split with a slice. Does not remove the split itself.
bool replace_split(ExportedProgram& program, Node& node) {
  Node* input = tensor_arg(node, 0);
  const Value::Items* items = node.meta.value.items();
  if (input == nullptr || items == nullptr || !input->tensor()->is_static()) return false;
  const size_t rank = input->tensor()->rank();
  const size_t dim = wrapped(Call(node).integer("dim"), rank);
  std::vector<int64_t> starts = {0};
  for (const Value& item : *items) {
    if (item.tensor() == nullptr || !item.tensor()->is_static()) return false;
    starts.push_back(starts.back() + item.tensor()->sizes.at(dim).value());
  }
  const std::vector<Node*> parts = node.users();
  for (const Node* part : parts) {
    if (!part->calls(getitem()) || part->need(1).get<int64_t>() == nullptr) return false;
  }
  for (Node* part : parts) {
    const auto item = static_cast<size_t>(*part->need(1).get<int64_t>());
    Node* slice =
        slice_like(*part, *input, static_cast<int64_t>(dim), starts.at(item), starts.at(item + 1));
    replace_node(program, *part, *slice);
  }
  return true;
}

}  // namespace

void rewrite_for_backends(ExportedProgram& program, Changes& changes) {
  size_t count = 0;
  std::vector<Node*> nodes;  // without getitems, which replacing a split erases
  for (Node& node : program.graph->nodes()) {
    if (node.is_call() && !node.calls(getitem())) nodes.push_back(&node);
  }
  for (Node* node : nodes) {
    run_at_node(std::string(node->name()), [&] {
      if (calls(node, "aten.mul.Scalar")) {
        count += replace_scalar(program, *node) ? 1 : 0;
      } else if (calls(node, "aten.select_copy.int")) {
        count += replace_select(program, *node) ? 1 : 0;
      } else if (calls(node, "aten.split_with_sizes_copy.default")) {
        if (!replace_split(program, *node)) return;
        ++count;
        node->graph().erase(node);
      }
    });
  }
  changes.add("call rewritten for backends", count);
}

}  // namespace vitrine::aot
