#include "test/backends/xnnpack/aot/delegate_runner.h"

#include <gtest/gtest.h>

#include <cstring>

#include "aot/lowering/to_backend.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"
#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "test/backends/xnnpack/aot/named_data_view.h"
#include "test/backends/xnnpack/aot/payload_text.h"
#include "tools/common/tensors.h"
#include "tools/common/tool_error.h"

namespace vitrine::aot::test {
namespace {

Array zeros_of(const TensorSpec& spec, int64_t batch) {
  std::vector<int32_t> sizes;
  for (const SymInt& size : spec.sizes) {
    sizes.push_back(static_cast<int32_t>(size.is_static() ? size.value() : batch));
  }
  return tools::check(Array::zeros(spec.dtype, sizes, kept_dim_order(spec)));
}

}  // namespace

std::shared_ptr<const LoweredBackendModule> lowered(const TestProgram& t) {
  return to_backend(XnnpackBackend(), t.program);
}

std::vector<std::string> node_types(const LoweredBackendModule& module) {
  std::vector<std::string> types;
  for (const std::string& line : describe_payload(*module.payload).nodes) {
    types.push_back(line.substr(0, line.find(' ')));
  }
  return types;
}

std::vector<std::vector<float>> run(const LoweredBackendModule& module,
                                    const std::vector<std::vector<float>>& inputs, int64_t batch) {
  const NamedDataView keys(module.named_data);
  BackendInitContext context;
  context.named_data = &keys;
  vitrine::XnnpackBackend backend;
  Result<std::unique_ptr<Delegate>> loaded = backend.init(context, *module.payload, {});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message();
  if (!loaded.ok()) return {};
  std::vector<Array> arrays;
  for (const InputSpec& input : module.original.signature.inputs) {
    if (input.kind != InputSpec::Kind::kUserInput) continue;
    const Node* node = module.original.graph->find(input.name);
    arrays.push_back(zeros_of(*node->tensor(), batch));
    const std::vector<float>& numbers = inputs.at(arrays.size() - 1);
    tools::check(arrays.back().copy_from(std::as_bytes(std::span(numbers))));
  }
  const size_t first_output = arrays.size();
  for (const Argument& result : *module.original.graph->output()->args()[0].list()) {
    arrays.push_back(zeros_of(*result.node()->tensor(), batch));
  }
  std::vector<EValue> values;
  for (Array& array : arrays) values.emplace_back(&array.mutable_tensor());
  std::vector<EValue*> arguments;
  for (EValue& value : values) arguments.push_back(&value);
  const Error error = (*loaded)->execute({}, arguments);
  EXPECT_TRUE(error.ok()) << error.message();
  std::vector<std::vector<float>> outputs;
  for (size_t i = first_output; i < arrays.size(); ++i) {
    const std::vector<std::byte> bytes = tools::row_major_bytes(arrays[i].tensor());
    std::vector<float>& numbers = outputs.emplace_back(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  return outputs;
}

}  // namespace vitrine::aot::test
