#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "aot/graph/pass.h"
#include "aot/passes/passes.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

template <class T>
TensorData scalar(ScalarType dtype, T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return make_tensor_data(dtype, {}, std::move(bytes));
}

// Converts a Python number like torch.tensor(), except that floats get the dtype `real`.
std::optional<TensorData> tensor_of(const Argument& argument, ScalarType real) {
  if (const auto* value = argument.get<bool>()) return scalar(ScalarType::kBool, *value);
  if (const auto* value = argument.get<int64_t>()) return scalar(ScalarType::kLong, *value);
  const auto* value = argument.get<double>();
  if (value == nullptr) return {};
  return real == ScalarType::kDouble ? scalar(real, *value)
                                     : scalar(real, static_cast<float>(*value));
}

ScalarType dtype_of(Value::Number::Kind kind, ScalarType real) {
  switch (kind) {
    case Value::Number::Kind::kInt:
      return ScalarType::kInt;
    case Value::Number::Kind::kFloat:
      return real;
    case Value::Number::Kind::kBool:
      break;
  }
  return ScalarType::kBool;
}

// Returns the dtype of the call's float literals: f64 if an input is f64, and otherwise f32.
ScalarType real_dtype(const Node& node) {
  const bool is_double = std::ranges::any_of(node.inputs(), [](const Node* input) {
    return input->tensor() != nullptr && input->tensor()->dtype == ScalarType::kDouble;
  });
  return is_double ? ScalarType::kDouble : ScalarType::kFloat;
}

Node* lift(ExportedProgram& program, TensorData data) {
  const auto buffers =
      std::ranges::count(program.signature.inputs, InputSpec::Kind::kBuffer, &InputSpec::kind);
  Node* node =
      program.add_constant(fmt::format("_lifted_tensor_constant{}", buffers), std::move(data));
  // Makes the constant a buffer. The names of constants contain the number of buffers, so the next
  // constant gets another name.
  const auto spec = std::ranges::find(program.signature.inputs, node->name(), &InputSpec::name);
  spec->kind = InputSpec::Kind::kBuffer;
  spec->persistent = false;
  spec->is_lifted_number = true;
  return node;
}

// Adds a constant to the subgraph of `user`, which cannot use the program's inputs.
Node* lift(Node& user, TensorData data) {
  Graph& graph = user.graph();
  const std::string name = fmt::format("_tensor_constant{}", graph.tensors().size());
  Node* node = graph.get_attr(name, &user);
  node->meta.value = contiguous_spec(data.dtype, {});
  graph.tensors().emplace(node->attribute(), std::move(data));
  return node;
}

// True if the dtype, f16 or bf16, represents the number exactly. False for computed numbers.
bool holds(ScalarType dtype, const Argument& number) {
  if (number.node() != nullptr) return number.node()->meta.value.number() == nullptr;
  const auto* integer = number.get<int64_t>();
  const auto* real = number.get<double>();
  if (integer == nullptr && real == nullptr) return true;
  const double value = real != nullptr ? *real : static_cast<double>(*integer);
  const auto narrow = static_cast<float>(value);
  const float rounded = dtype == ScalarType::kHalf ? Half(narrow) : BFloat16(narrow);
  return std::isnan(value) || static_cast<double>(rounded) == value;
}

// PyTorch does not round numbers to f16 or bf16. If the result's dtype cannot represent a number in
// the call, replaces the call with a call in f32. Returns the resulting call.
Node& keep_numbers_exact(ExportedProgram& program, Node& node) {
  const TensorSpec* result = node.tensor();
  if (result == nullptr ||
      (result->dtype != ScalarType::kHalf && result->dtype != ScalarType::kBFloat16) ||
      std::ranges::all_of(
          node.args(), [&](const Argument& argument) { return holds(result->dtype, argument); })) {
    return node;
  }
  const auto converted = [&](Node* from, ScalarType dtype) {
    TensorSpec spec = *from->tensor();
    spec.dtype = dtype;
    return insert_like(node, Target::of("aten._to_copy.default"), {from}, {{"dtype", dtype}},
                       std::move(spec));
  };
  ArgumentList args = node.args();
  for (Argument& argument : args) {
    Node* operand = argument.node();
    if (operand == nullptr || operand->tensor() == nullptr) continue;
    argument = converted(operand, ScalarType::kFloat);
  }
  TensorSpec spec = *result;
  spec.dtype = ScalarType::kFloat;
  Node* wide = insert_like(node, node.target(), std::move(args), node.kwargs(), std::move(spec));
  replace_node(program, node, *converted(wide, result->dtype));
  return *wide;
}

}  // namespace

void scalars_to_tensors(ExportedProgram& program) {
  for_each_call(*program.graph, [&](Node& each) {
    const Operator* op = operator_of(each.target());
    if (op == nullptr || !op->promotion) return;
    Node& node = *op->promotion == Promotion::kNone ? each : keep_numbers_exact(program, each);
    const ScalarType real = real_dtype(node);
    for (size_t i = 0; i < std::min(node.args().size(), op->arguments.size()); ++i) {
      if (op->arguments[i].type != ArgumentType::kTensor) continue;
      const Argument& argument = node.args()[i];
      if (std::optional<TensorData> data = tensor_of(argument, real)) {
        Node* constant = &node.graph() == program.graph.get() ? lift(program, std::move(*data))
                                                              : lift(node, std::move(*data));
        node.set_arg(i, constant);
      } else if (Node* number = argument.node();
                 number != nullptr && number->meta.value.number() != nullptr) {
        const ScalarType dtype = dtype_of(number->meta.value.number()->kind, real);
        node.set_arg(i, insert_like(node, Target::of("aten.scalar_tensor.default"), {number},
                                    {{"dtype", dtype}}, contiguous_spec(dtype, {})));
      }
    }
  });
}

}  // namespace vitrine::aot
