#include <algorithm>
#include <optional>
#include <vector>

#include "aot/operators/call.h"
#include "aot/operators/infer.h"
#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"
#include "aot/optimize/rules.h"

namespace vitrine::aot {
namespace {

constexpr std::string_view kView = "memory.view";

bool may_write(const Node& node) {
  const Operator* op = node.is_call() ? operator_of(node.target()) : nullptr;
  return op != nullptr && std::ranges::any_of(op->arguments, &OperatorArgument::is_written);
}

// True if no call writes to the node's memory, and neither the node nor its views are outputs.
bool is_only_read(const Node& node) {
  if (is_result(node)) return false;
  return std::ranges::none_of(node.users(), [](const Node* user) {
    return may_write(*user) || (calls(user, kView) && !is_only_read(*user));
  });
}

// Returns the call or getitem that owns the memory of `node`. Null for other owners, for calls that
// may write to arguments, and for cond and loops, whose results share memory with subgraphs.
const Node* owner_of(const Node* node) {
  while (calls(node, kView)) node = tensor_arg(*node, 0);
  if (node == nullptr || !node->is_call() || may_write(*node)) return nullptr;
  const Node* call = node->calls(getitem()) ? node->arg(0)->node() : node;
  if (call == nullptr || !call->is_call() || may_write(*call)) return nullptr;
  const bool is_control_flow = call->target().dialect() == Dialect::kHigherOrder &&
                               !call->target().is("executorch_call_delegate");
  return is_control_flow ? nullptr : node;
}

// Returns the offset, in elements, of a part that starts at index `start` of `dim`. Empty if the
// elements of the part are not adjacent in memory.
std::optional<int64_t> offset_of(const TensorSpec& input, size_t dim, int64_t start) {
  if (!input.is_static() || !is_contiguous(input)) return {};
  int64_t stride = 1;
  for (size_t i = 0; i < input.rank(); ++i) {
    if (i < dim && input.sizes[i].value() != 1) return {};
    if (i > dim) stride *= input.sizes[i].value();
  }
  return start * stride;
}

bool is_static_and_dense(const Node& node) {
  return node.tensor() != nullptr && node.tensor()->is_static() && is_contiguous(*node.tensor()) &&
         product_of(node.tensor()->sizes).value() != 0;
}

class SliceReplacer {
 public:
  SliceReplacer(ExportedProgram& program, Changes& changes)
      : program_(program), changes_(changes) {}

  void visit(Node& node) {
    if (calls(&node, "aten.slice_copy.Tensor")) {
      visit_slice(node);
    } else if (calls(&node, "aten.select_copy.int")) {
      visit_select(node);
    } else if (calls(&node, "aten.split_with_sizes_copy.default")) {
      visit_split(node);
    }
  }

 private:
  static bool may_view(const Node& part, const Node* input) {
    const Node* owner = owner_of(input);
    return owner != nullptr && is_static_and_dense(part) && is_only_read(*owner) &&
           is_only_read(part);
  }

  static std::optional<int64_t> literal(const Node& node, size_t index, int64_t otherwise) {
    const Argument* given = node.arg(index);
    if (given == nullptr || given->is_none()) return otherwise;
    const auto* number = given->get<int64_t>();
    return number == nullptr ? std::nullopt : std::optional(*number);
  }

  void visit_slice(Node& node) {
    Node* input = tensor_arg(node, 0);
    if (!may_view(node, input) || Call(node).integer("step", 1) != 1) return;
    if (!input->tensor()->is_static()) return;
    const size_t dim = wrapped(Call(node).integer("dim", 0), input->tensor()->rank());
    const int64_t size = input->tensor()->sizes.at(dim).value();
    const std::optional<int64_t> start = literal(node, 2, 0);
    if (!start) return;
    const int64_t from = std::clamp<int64_t>(*start < 0 ? *start + size : *start, 0, size);
    replace(node, *input, offset_of(*input->tensor(), dim, from), true);
  }

  void visit_select(Node& node) {
    Node* input = tensor_arg(node, 0);
    const std::optional<int64_t> index = literal(node, 2, 0);
    if (!may_view(node, input) || !index || !input->tensor()->is_static()) return;
    const size_t dim = wrapped(Call(node).integer("dim"), input->tensor()->rank());
    const int64_t size = input->tensor()->sizes.at(dim).value();
    replace(node, *input, offset_of(*input->tensor(), dim, *index < 0 ? *index + size : *index),
            true);
  }

  // Replaces all parts of a split or none, because otherwise the split stays.
  void visit_split(Node& node) {
    Node* input = tensor_arg(node, 0);
    const Value::Items* items = node.meta.value.items();
    if (input == nullptr || items == nullptr || !input->tensor()->is_static()) return;
    const size_t dim = wrapped(Call(node).integer("dim"), input->tensor()->rank());
    std::vector<int64_t> starts = {0};
    for (const Value& item : *items) {
      if (item.tensor() == nullptr || !item.tensor()->is_static()) return;
      starts.push_back(starts.back() + item.tensor()->sizes.at(dim).value());
    }
    const std::vector<Node*> parts = node.users();
    for (const Node* part : parts) {
      if (!part->calls(getitem()) || !may_view(*part, input)) return;
    }
    if (!offset_of(*input->tensor(), dim, 0)) return;
    changes_.remove(kWhat, node);
    for (Node* part : parts) {
      const auto index = static_cast<size_t>(*part->need(1).get<int64_t>());
      replace(*part, *input, offset_of(*input->tensor(), dim, starts.at(index)), false);
    }
  }

  void replace(Node& part, Node& input, std::optional<int64_t> offset, bool is_counted) {
    if (!offset) return;
    if (is_counted) changes_.remove(kWhat, part);
    ArgumentList sizes;
    for (const SymInt& size : part.tensor()->sizes) sizes.emplace_back(size.value());
    Node* view =
        insert_like(part, Target::of(kView, Dialect::kPython),
                    {&input, Argument::list(std::move(sizes)), *offset}, {}, part.meta.value);
    replace_node(program_, part, *view);
  }

  static constexpr std::string_view kWhat = "slice replaced by a view";
  ExportedProgram& program_;
  Changes& changes_;
};

}  // namespace

void slices_to_views(ExportedProgram& program, Changes& changes) {
  if (!program.graph->subgraphs().empty()) return;
  SliceReplacer replacer(program, changes);
  std::vector<Node*> calls;  // without getitems, which replacing a split erases
  for (Node& node : program.graph->nodes()) {
    if (node.is_call() && !node.calls(getitem())) calls.push_back(&node);
  }
  for (Node* node : calls) {
    run_at_node(std::string(node->name()), [&] { replacer.visit(*node); });
  }
  program.graph->remove_dead_code();
}

}  // namespace vitrine::aot
