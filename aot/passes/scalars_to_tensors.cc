#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "aot/passes/pass.h"
#include "aot/passes/passes.h"

namespace vitrine::aot {
namespace {

template <class T>
TensorData scalar(ScalarType dtype, T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return make_tensor_data(dtype, {}, std::move(bytes));
}

// As torch.tensor makes one of a number of Python, but in f64 where the call computes in that.
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

// The dtype that the call's real numbers get.
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
  // The numbers of constants go on from those of buffers, which they become.
  const auto spec = std::ranges::find(program.signature.inputs, node->name(), &InputSpec::name);
  spec->kind = InputSpec::Kind::kBuffer;
  spec->persistent = false;
  spec->is_lifted_number = true;
  return node;
}

// A subgraph lacks the program's inputs.
Node* lift(Node& user, TensorData data) {
  Graph& graph = user.graph();
  const std::string name = fmt::format("_tensor_constant{}", graph.tensors().size());
  Node* node = graph.get_attr(name, &user);
  node->meta.value = contiguous_spec(data.dtype, {});
  graph.tensors().emplace(node->attribute(), std::move(data));
  return node;
}

}  // namespace

void scalars_to_tensors(ExportedProgram& program) {
  for_each_call(*program.graph, [&](Node& node) {
    const Operator* op = operator_of(node.target());
    if (op == nullptr || !op->promotion) return;
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
