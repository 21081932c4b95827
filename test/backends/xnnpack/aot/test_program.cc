#include "test/backends/xnnpack/aot/test_program.h"

#include <cstring>

namespace vitrine::aot::test {
namespace {

std::vector<SymInt> to_sizes(const std::vector<int64_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

template <class T>
TensorData to_data(ScalarType dtype, std::vector<int64_t> sizes, const std::vector<T>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return make_tensor_data(dtype, std::move(sizes), std::move(bytes));
}

}  // namespace

Node* TestProgram::add_placeholder(std::string_view name, TensorSpec spec) {
  Graph& graph = *program.graph;
  Node* first_call = nullptr;
  for (Node& node : graph.nodes()) {
    if (node.kind() == Node::Kind::kPlaceholder) continue;
    first_call = &node;
    break;
  }
  Node* node = graph.placeholder(name, first_call);
  node->meta.value = std::move(spec);
  InputSpec input;
  input.name = node->name();
  program.signature.inputs.push_back(std::move(input));
  return node;
}

Node* TestProgram::input(std::string_view name, std::vector<int64_t> sizes, ScalarType dtype) {
  return add_placeholder(name, contiguous_spec(dtype, to_sizes(sizes)));
}

Node* TestProgram::input_in_order(std::string_view name, std::vector<int64_t> sizes,
                                  const std::vector<uint8_t>& order) {
  TensorSpec spec = contiguous_spec(ScalarType::kFloat, to_sizes(sizes));
  spec.strides = dense_strides(spec.sizes, order);
  return add_placeholder(name, std::move(spec));
}

Node* TestProgram::dynamic_input(std::string_view name, std::vector<int64_t> sizes, int64_t max) {
  std::vector<SymInt> dims = to_sizes(sizes);
  dims.at(0) = SymInt(Expression::symbol("s0"));
  program.range_constraints["s0"] = {1, max};
  return add_placeholder(name, contiguous_spec(ScalarType::kFloat, std::move(dims)));
}

Node* TestProgram::parameter(std::string_view name, std::vector<int64_t> sizes,
                             std::vector<float> numbers) {
  return program.add_constant(name, to_data(ScalarType::kFloat, std::move(sizes), numbers));
}

Node* TestProgram::parameter(std::string_view name, std::vector<int64_t> sizes) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  return parameter(name, std::move(sizes), std::vector<float>(count));
}

Node* TestProgram::int8_parameter(std::string_view name, std::vector<int64_t> sizes,
                                  std::vector<int8_t> numbers) {
  return program.add_constant(name, to_data(ScalarType::kChar, std::move(sizes), numbers));
}

Node* TestProgram::call(std::string_view target, ArgumentList args, std::vector<int64_t> sizes,
                        ScalarType dtype, ArgumentMap kwargs) {
  Node* node =
      program.graph->call(Target::of(target, Dialect::kEdge), std::move(args), std::move(kwargs));
  std::vector<SymInt> dims = to_sizes(sizes);
  // A size of -1 marks the dynamic dim.
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) dims[i] = SymInt(Expression::symbol("s0"));
  }
  node->meta.value = contiguous_spec(dtype, std::move(dims));
  node->meta.debug_handle = next_handle_++;
  return node;
}

Node* TestProgram::tuple_call(std::string_view target, ArgumentList args,
                              const std::vector<TensorSpec>& results) {
  Node* node = call(target, std::move(args), {});
  node->meta.value = Value(Value::Items(results.begin(), results.end()));
  return node;
}

Node* TestProgram::item(Node* tuple, int64_t index) {
  Node* node = program.graph->call(getitem(), {tuple, index});
  node->meta.value = tuple->meta.value.items()->at(static_cast<size_t>(index));
  node->meta.debug_handle = tuple->meta.debug_handle;
  return node;
}

Node* TestProgram::cast(std::string_view target, Node* source, ArgumentList parameters,
                        ScalarType dtype) {
  parameters.insert(parameters.begin(), source);
  parameters.emplace_back(ScalarType::kChar);
  Node* node = call("quantized_decomposed." + std::string(target), std::move(parameters), {});
  TensorSpec spec = *source->tensor();
  spec.dtype = dtype;
  node->meta.value = std::move(spec);
  return node;
}

Node* TestProgram::quantize(Node* source, double scale, int64_t zero_point) {
  return cast("quantize_per_tensor.default", source, {scale, zero_point, -128, 127},
              ScalarType::kChar);
}

Node* TestProgram::dequantize(Node* source, double scale, int64_t zero_point) {
  return cast("dequantize_per_tensor.default", source, {scale, zero_point, -128, 127},
              ScalarType::kFloat);
}

Node* TestProgram::quantized_parameter(std::string_view name, std::vector<int64_t> sizes,
                                       std::vector<int8_t> numbers,
                                       const std::vector<float>& scales, int64_t axis,
                                       int8_t zero_point) {
  const auto count = static_cast<int64_t>(scales.size());
  Node* source = int8_parameter(name, std::move(sizes), std::move(numbers));
  Node* scale = parameter("s", {count}, scales);
  Node* zero = int8_parameter("z", {count}, std::vector<int8_t>(scales.size(), zero_point));
  return cast("dequantize_per_channel.default", source, {scale, zero, axis, -127, 127},
              ScalarType::kFloat);
}

Node* TestProgram::dynamically_quantized(Node* source) {
  Node* choose = tuple_call(
      "quantized_decomposed.choose_qparams.tensor", {source, -128, 127, 1e-6, ScalarType::kChar},
      {contiguous_spec(ScalarType::kDouble, {}), contiguous_spec(ScalarType::kLong, {})});
  const ArgumentList parameters = {item(choose, 0), item(choose, 1), -128, 127};
  Node* quantized = cast("quantize_per_tensor.tensor", source, parameters, ScalarType::kChar);
  return cast("dequantize_per_tensor.tensor", quantized, parameters, ScalarType::kFloat);
}

void TestProgram::output(std::vector<Node*> nodes) {
  program.graph->set_output(Argument::tuple(ArgumentList(nodes.begin(), nodes.end())));
  for (const Node* node : nodes) {
    OutputSpec spec;
    spec.name = node->name();
    program.signature.outputs.push_back(std::move(spec));
  }
}

std::vector<float> ramp(size_t count, float step) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    numbers[i] = (static_cast<float>(i % 17) - 8.0f) * step;
  }
  return numbers;
}

}  // namespace vitrine::aot::test
