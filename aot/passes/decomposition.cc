#include "aot/passes/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "aot/graph/aot_error.h"
#include "aot/passes/pass.h"

namespace vitrine::aot {
Argument Decomposition::arg(size_t index, std::string_view name, Argument fallback) const {
  if (const Argument* found = node_.arg(index)) return *found;
  if (const Argument* found = node_.kwarg(name)) return *found;
  return fallback;
}

int64_t Decomposition::integer(size_t index, std::string_view name, int64_t fallback) const {
  const Argument found = arg(index, name, fallback);
  const auto* value = found.get<int64_t>();
  if (value == nullptr) refuse(fmt::format("its {} is no number", name));
  return *value;
}

bool Decomposition::boolean(size_t index, std::string_view name, bool fallback) const {
  const Argument found = arg(index, name, fallback);
  const auto* value = found.get<bool>();
  if (value == nullptr) refuse(fmt::format("its {} is neither true nor false", name));
  return *value;
}

std::vector<int64_t> Decomposition::integers(size_t index, std::string_view name, size_t count,
                                             int64_t fallback) const {
  const Argument found = arg(index, name, fallback);
  std::vector<int64_t> values;
  if (const auto* value = found.get<int64_t>()) values.push_back(*value);
  if (const ArgumentList* items = found.list()) {
    for (const Argument& item : *items) {
      const auto* value = item.get<int64_t>();
      if (value == nullptr) refuse(fmt::format("its {} has a size that is no number", name));
      values.push_back(*value);
    }
  }
  if (values.size() == 1 && count > 1) values.resize(count, values.front());
  if (count != 0 && values.size() != count) {
    refuse(fmt::format("its {} has {} items, not {}", name, values.size(), count));
  }
  return values;
}

ArgumentMap Decomposition::kwargs(std::initializer_list<std::string_view> names) const {
  ArgumentMap found;
  for (const auto& [key, value] : node_.kwargs()) {
    if (std::ranges::count(names, key) != 0) found.emplace_back(key, value);
  }
  return found;
}

Node* Decomposition::tensor(size_t index) const {
  const Argument* found = node_.arg(index);
  Node* input = found == nullptr ? nullptr : found->node();
  if (input == nullptr || input->tensor() == nullptr) {
    refuse(fmt::format("argument {} is no tensor", index));
  }
  return input;
}

const TensorSpec& Decomposition::spec() const {
  if (node_.tensor() == nullptr) refuse("its result is no tensor");
  return *node_.tensor();
}

void Decomposition::refuse(std::string_view why) const {
  throw AotError(
      fmt::format("node {} ({}): no decomposition: {}", node_.name(), node_.target().name(), why));
}

Node* Decomposition::call(std::string_view target, ArgumentList args, Value value,
                          ArgumentMap kwargs) {
  return insert_like(node_, Target::of(target), std::move(args), std::move(kwargs),
                     std::move(value));
}

Node* Decomposition::item(Node* tuple, size_t index) {
  return insert_like(node_, getitem(), {tuple, static_cast<int64_t>(index)}, {},
                     tuple->meta.value.items()->at(index));
}

Node* Decomposition::permute(Node* input, const std::vector<int64_t>& dims) {
  TensorSpec spec = *input->tensor();
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from = wrapped(dims[i], dims.size());
    spec.sizes.at(i) = input->tensor()->sizes.at(from);
    spec.strides.at(i) = input->tensor()->strides.at(from);
  }
  return call("aten.permute.default", {input, dims}, std::move(spec));
}

Node* Decomposition::transpose(Node* input, int64_t a, int64_t b) {
  const size_t rank = input->tensor()->rank();
  if (rank == 0) return input;
  std::vector<int64_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(i);
  std::swap(dims.at(wrapped(a, rank)), dims.at(wrapped(b, rank)));
  return permute(input, dims);
}

Node* Decomposition::expand(Node* input, const std::vector<SymInt>& sizes) {
  TensorSpec spec = *input->tensor();
  const size_t added = sizes.size() - spec.rank();
  std::vector<SymInt> strides(sizes.size(), 0);
  for (size_t i = 0; i < spec.rank(); ++i) {
    if (spec.sizes[i] == sizes[i + added]) strides[i + added] = spec.strides[i];
  }
  spec.sizes = sizes;
  spec.strides = std::move(strides);
  return call("aten.expand.default", {input, size_argument(sizes)}, std::move(spec));
}

Node* Decomposition::reshape(Node* input, const Argument& sizes,
                             const std::vector<SymInt>& result) {
  if (input->tensor()->sizes == result) return input;
  std::optional<std::vector<SymInt>> strides = view_strides(*input->tensor(), result);
  if (!strides) {
    input = call("aten.clone.default", {input},
                 contiguous_spec(input->tensor()->dtype, input->tensor()->sizes),
                 {{"memory_format", MemoryFormat::kContiguous}});
    strides = contiguous_strides(result);
  }
  TensorSpec spec = *input->tensor();
  spec.sizes = result;
  spec.strides = std::move(*strides);
  return call("aten.view.default", {input, sizes}, std::move(spec));
}

void Decomposition::replace(Node* other) { replace_node(program_, node_, *other); }

void Decomposition::replace_items(std::span<Node* const> results) {
  const std::vector<Node*> users = node_.users();
  for (Node* user : users) {
    if (!user->calls(getitem())) refuse("something takes all of its results at once");
    const auto* index = user->args().at(1).get<int64_t>();
    if (index == nullptr || *index < 0 || static_cast<size_t>(*index) >= results.size()) {
      refuse("an unknown result is taken");
    }
    Node* result = results[static_cast<size_t>(*index)];
    for (OutputSpec& output : program_.signature.outputs) {
      if (output.name == user->name()) output.name = result->name();
    }
    // Not erased, since it may be the next to be visited: nothing uses it any more.
    user->replace_all_uses_with(result);
    user->set_args({result, 0});
  }
  node_.graph().erase(&node_);
}

Argument size_argument(const std::vector<SymInt>& sizes) {
  ArgumentList items;
  for (const SymInt& size : sizes) {
    if (!size.is_static()) {
      throw AotError(fmt::format("no decomposition: the size {} is a symbol", to_text(size)));
    }
    items.emplace_back(size.value());
  }
  return items;
}

}  // namespace vitrine::aot
