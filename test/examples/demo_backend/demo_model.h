// Defines a model for tests of the demo backend, and a tracer that records events.
#pragma once

#include "aot/graph/exported_program.h"
#include "test/support/program_builder.h"
#include "vitrine/event_tracer.h"

namespace vitrine::test {

class RecordingTracer final : public EventTracer {
 public:
  void begin_block(const char*) override {}
  void record(const TraceRecord& record) override { records.push_back(record); }
  std::vector<TraceRecord> records;
};

struct ConvolutionSpec {
  std::vector<int64_t> input, weight, result;  // sizes
  std::vector<int64_t> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int64_t groups = 1;
  bool has_bias = true;
};

// convolution -> relu -> tan, with the debug handles 1, 2, 3. Weights are 0.01, 0.02, ...; biases
// -0.5, 0.5, -0.5, ...
inline aot::ExportedProgram demo_model(const ConvolutionSpec& spec) {
  using namespace aot;
  ExportedProgram program;
  Graph& graph = *program.graph;
  const auto sizes = [](const std::vector<int64_t>& values) {
    return std::vector<SymInt>(values.begin(), values.end());
  };
  const auto weight = [&](const char* name, std::vector<int64_t> dims, auto value_at) {
    int64_t count = 1;
    for (const int64_t dim : dims) count *= dim;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(value_at(i));
    Node* node = graph.placeholder(name);
    node->meta.value = contiguous_spec(ScalarType::kFloat, sizes(dims));
    InputSpec input;
    input.kind = InputSpec::Kind::kParameter;
    input.name = name;
    input.target = name;
    program.signature.inputs.push_back(input);
    program.state_dict[name] = make_tensor_data(ScalarType::kFloat, dims, bytes_of(values));
    return node;
  };
  Node* w =
      weight("p_weight", spec.weight, [](int64_t i) { return static_cast<float>(i + 1) * 0.01F; });
  Node* bias = nullptr;
  if (spec.has_bias) {
    bias = weight("p_bias", {spec.weight[0]}, [](int64_t i) { return i % 2 == 0 ? -0.5F : 0.5F; });
  }
  Node* x = graph.placeholder("x");
  x->meta.value = contiguous_spec(ScalarType::kFloat, sizes(spec.input));
  InputSpec input;
  input.name = "x";
  program.signature.inputs.push_back(input);
  uint32_t handle = 0;
  const auto call = [&](const char* op, ArgumentList args) {
    Node* node = graph.call(Target::of(op, Dialect::kEdge), std::move(args));
    node->meta.value = contiguous_spec(ScalarType::kFloat, sizes(spec.result));
    node->meta.debug_handle = ++handle;
    return node;
  };
  Node* conv = call("aten.convolution.default",
                    {x, w, bias == nullptr ? Argument() : Argument(bias), spec.stride, spec.padding,
                     spec.dilation, false, std::vector<int64_t>{0, 0}, spec.groups});
  Node* relu = call("aten.relu.default", {conv});
  Node* tan = call("aten.tan.default", {relu});
  graph.set_output(Argument::tuple({tan}));
  OutputSpec output;
  output.name = tan->name();
  program.signature.outputs.push_back(output);
  return program;
}

}  // namespace vitrine::test
