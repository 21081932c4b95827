#include "aot/operators/decomposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "aot/graph/aot_error.h"
#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"

namespace vitrine::aot {
namespace {

// Operators that may return an operand or a view, although PyTorch declares that they return new
// tensors.
constexpr std::string_view kUndeclaredViews[] = {
    "_unsafe_view",      "alpha_dropout",          "atleast_1d",    "atleast_2d", "atleast_3d",
    "broadcast_tensors", "cartesian_prod",         "conj_physical", "dropout",    "einsum",
    "feature_dropout",   "feature_alpha_dropout",  "meshgrid",      "type_as",    "unsafe_chunk",
    "unsafe_split",      "unsafe_split_with_sizes"};

bool is_half(ScalarType dtype) {
  return dtype == ScalarType::kHalf || dtype == ScalarType::kBFloat16;
}

bool may_share_memory(Target target) {
  const Operator* op = operator_of(target);
  return (op != nullptr && op->may_alias()) ||
         std::ranges::count(kUndeclaredViews, target.op()) != 0;
}

}  // namespace

void Decomposition::use_opmath() {
  for (Node* input : node_.inputs()) {
    if (input->tensor() != nullptr) node_.replace_input(input, to_opmath(input));
  }
  const TensorSpec* result = node_.tensor();
  if (result == nullptr || !is_half(result->dtype)) return;
  opmath_spec_ = *result;
  opmath_spec_->dtype = ScalarType::kFloat;
}

Node* Decomposition::to_opmath(Node* input) {
  return is_half(input->tensor()->dtype) ? convert(input, ScalarType::kFloat) : input;
}

Argument Decomposition::arg(std::string_view name, const Argument& fallback) const {
  const Argument* found = call().find(name);
  return found == nullptr ? fallback : *found;
}

Argument Decomposition::operand(size_t index) const {
  const Argument* found = call().find(index);
  return found == nullptr ? Argument() : *found;
}

Argument Decomposition::factor(std::string_view name) const {
  Argument factor = value(name);
  const double* real = factor.get<double>();
  if (real == nullptr || is_floating(spec().dtype) || is_complex(spec().dtype)) return factor;
  if (!(std::abs(*real) < 0x1p63)) refuse(fmt::format("{} is out of range for integers", name));
  return static_cast<int64_t>(*real);
}

Node* Decomposition::self() const {
  Node* input = operand(0).node();
  if (input == nullptr || input->tensor() == nullptr) refuse("the first argument must be a tensor");
  return input;
}

Node* Decomposition::optional_tensor(std::string_view name) const {
  return call().find(name) == nullptr ? nullptr : tensor(name);
}

std::vector<Node*> Decomposition::tensors(std::string_view name) const {
  std::vector<Node*> found = call().nodes(name);
  if (found.empty()) refuse(fmt::format("{} is empty", name));
  return found;
}

ArgumentMap Decomposition::kwargs(std::initializer_list<std::string_view> names) const {
  ArgumentMap found;
  for (const auto& [key, value] : node_.kwargs()) {
    if (std::ranges::count(names, key) != 0) found.emplace_back(key, value);
  }
  return found;
}

const TensorSpec& Decomposition::spec() const {
  if (node_.tensor() == nullptr) refuse("the result must be a tensor");
  return opmath_spec_ ? *opmath_spec_ : *node_.tensor();
}

void Decomposition::refuse(std::string_view why) const {
  fail_at(node_, fmt::format("{}{}", kContext, why));
}

Node* Decomposition::call(std::string_view target, ArgumentList args, Value value,
                          ArgumentMap kwargs) {
  return insert_like(node_, Target::of(target), std::move(args), std::move(kwargs),
                     std::move(value));
}

Node* Decomposition::make(std::string_view target, ArgumentList args, ArgumentMap kwargs) {
  const Target called = Target::of(target);
  Value value;
  try {
    value = infer(called, args, kwargs);
  } catch (const AotError& error) {
    refuse(error.what());
  }
  return insert_like(node_, called, std::move(args), std::move(kwargs), std::move(value));
}

Sizes Decomposition::broadcast_sizes(std::span<Node* const> operands) const {
  std::vector<const TensorSpec*> specs;
  for (const Node* operand : operands) specs.push_back(operand->tensor());
  try {
    return aot::broadcast_sizes(call(), specs);
  } catch (const AotError& error) {
    refuse(error.what());
  }
}

Node* Decomposition::scalar(Argument value, ScalarType dtype) {
  return make("aten.scalar_tensor.default", {std::move(value)},
              {{"dtype", dtype}, {"layout", Layout::kStrided}, {"device", Device()}});
}

Node* Decomposition::range(const SymInt& start, const SymInt& end) {
  return make("aten.arange.start_step", {size(start), size(end)},
              {{"layout", Layout::kStrided}, {"device", Device()}, {"pin_memory", false}});
}

const TensorData* Decomposition::constant_data(const Node* tensor) const {
  while (tensor->is_call() &&
         (tensor->target().op() == "lift_fresh_copy" || tensor->target().op() == "clone" ||
          tensor->target().op() == "detach")) {
    tensor = tensor->need(0).node();
    if (tensor == nullptr) return nullptr;
  }
  if (tensor->kind() != Node::Kind::kPlaceholder || &node_.graph() != program_.graph.get()) {
    return nullptr;
  }
  const InputSpec* input = program_.input_of(tensor->name());
  return input == nullptr || program_.is_mutated(*input) ? nullptr : program_.data_of(*input);
}

Node* Decomposition::convert(Node* input, ScalarType dtype) {
  if (input->tensor()->dtype == dtype) return input;
  return make("aten._to_copy.default", {input}, {{"dtype", dtype}});
}

Node* Decomposition::item(Node* tuple, size_t index) {
  return insert_like(node_, getitem(), {tuple, static_cast<int64_t>(index)}, {},
                     tuple->meta.value.items()->at(index));
}

Node* Decomposition::permute(Node* input, const Dims& dims) {
  return make("aten.permute.default", {input, dims});
}

Node* Decomposition::transpose(Node* input, int64_t a, int64_t b) {
  const size_t rank = input->tensor()->rank();
  if (rank == 0) return input;
  Dims dims(rank);
  for (size_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(i);
  std::swap(dims.at(wrapped(a, rank)), dims.at(wrapped(b, rank)));
  return permute(input, dims);
}

Node* Decomposition::expand(Node* input, const Sizes& sizes) {
  return make("aten.expand.default", {input, size_list(sizes)});
}

Node* Decomposition::reshape(Node* input, const Sizes& sizes) {
  return reshape(input, size_list(sizes), sizes);
}

Node* Decomposition::reshape(Node* input, const Argument& sizes_arg, const Sizes& sizes) {
  std::optional<Sizes> strides = view_strides(*input->tensor(), sizes);
  if (!strides) {
    input = make("aten.clone.default", {input}, {{"memory_format", MemoryFormat::kContiguous}});
    strides = contiguous_strides(sizes);
  }
  TensorSpec spec = *input->tensor();
  spec.sizes = sizes;
  spec.strides = std::move(*strides);
  return call("aten.view.default", {input, sizes_arg}, std::move(spec));
}

Argument Decomposition::size_list(const Sizes& sizes) {
  ArgumentList items;
  for (const SymInt& item : sizes) items.push_back(size(item));
  return Argument::list(std::move(items));
}

Argument Decomposition::size(const SymInt& size) {
  if (size.is_static()) return size.value();
  Value::Number number;
  number.value = size;
  // Reuses the nearest earlier node that computes the size, if there is one.
  for (Node* node = node_.previous(); node != nullptr; node = node->previous()) {
    const Value::Number* found = node->meta.value.number();
    if (found != nullptr && found->kind == Value::Number::Kind::kInt && found->value == size) {
      return node;
    }
  }
  for (Node* node = node_.previous(); node != nullptr; node = node->previous()) {
    const TensorSpec* spec = node->tensor();
    for (size_t i = 0; spec != nullptr && i < spec->rank(); ++i) {
      if (spec->sizes[i] != size) continue;
      return insert_like(node_, Target::of("aten.sym_size.int"), {node, static_cast<int64_t>(i)},
                         {}, number);
    }
  }
  struct PythonOperator {
    std::string_view function;
    std::string_view target;
  };
  constexpr std::array kOperators = {PythonOperator{"Add", "_operator.add"},
                                     PythonOperator{"Mul", "_operator.mul"},
                                     PythonOperator{"FloorDiv", "_operator.floordiv"}};
  const Expression& expression = size.expression();
  const auto found = std::ranges::find(kOperators, expression.name(), &PythonOperator::function);
  if (expression.kind() != Expression::Kind::kFunction || found == kOperators.end() ||
      expression.arguments().empty()) {
    refuse(fmt::format("cannot compute the size {}, because no tensor has a dim of this size",
                       to_text(size)));
  }
  SymInt value(expression.arguments().front());
  Argument result = this->size(value);
  for (size_t i = 1; i < expression.arguments().size(); ++i) {
    const SymInt next(expression.arguments()[i]);
    value = found->function == "Add"   ? value + next
            : found->function == "Mul" ? value * next
                                       : value / next;
    number.value = value;
    result = insert_like(node_, Target::of(found->target, Dialect::kPython),
                         {result, this->size(next)}, {}, number);
  }
  return result;
}

void Decomposition::compare_sizes(const Node& before, const Node& after) {
  const bool has_both = before.tensor() != nullptr && after.tensor() != nullptr;
  if (has_both && before.tensor()->sizes != after.tensor()->sizes) changed_sizes_ = true;
}

// Converts `made` to the dtype of `before`. Copies `made` if the result must own its memory.
Node* Decomposition::as_result(Node* made, const Node& before) {
  compare_sizes(before, *made);
  if (before.tensor() == nullptr || made->tensor() == nullptr) return made;
  made = convert(made, before.tensor()->dtype);
  const bool copies = owns_results_ && makes_new_tensors() && shares_operand(made);
  return copies ? (*this)("clone", made) : made;
}

bool Decomposition::makes_new_tensors() const {
  return boolean("copy", false) || !may_share_memory(node_.target());
}

bool Decomposition::shares_operand(const Node* made) const {
  const std::vector<Node*> operands = node_.inputs();
  while (made != nullptr && std::ranges::count(operands, made) == 0) {
    const bool is_view = made->is_call() && !made->args().empty() &&
                         (made->calls(getitem()) || may_share_memory(made->target()));
    made = is_view ? made->args()[0].node() : nullptr;
  }
  return made != nullptr;
}

void Decomposition::replace(Node* other) {
  other = as_result(other, node_);
  replace_node(program_, node_, *other);
}

void Decomposition::replace_items(const std::vector<Node*>& results) {
  // Leaves the getitem nodes in the graph, because the pass may visit them later. Clears their
  // specs, so that size() does not use these nodes.
  const auto leave_dead = [&](Node* user) {
    user->set_args({results.front(), 0});
    user->meta.value = Value();
  };
  const std::vector<Node*> users = node_.users();
  for (Node* user : users) {
    if (!user->calls(getitem())) refuse("a node uses the tuple of results as one value");
    if (user->users().empty()) {
      leave_dead(user);
      continue;
    }
    const auto* index = user->need(1).get<int64_t>();
    if (index == nullptr || *index < 0 || static_cast<size_t>(*index) >= results.size()) {
      refuse("a node uses a result that the decomposition does not compute");
    }
    Node* result = as_result(results[static_cast<size_t>(*index)], *user);
    for (OutputSpec& output : program_.signature.outputs) {
      if (output.name == user->name()) output.name = result->name();
    }
    user->replace_all_uses_with(result);
    leave_dead(user);
  }
  node_.graph().erase(&node_);
}

}  // namespace vitrine::aot
