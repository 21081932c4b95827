// Tests programs made from one delegate.
#include "aot/emit/lowered_module_buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "aot/import/pt2.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "demo_backend/lowering.h"
#include "demo_backend/runtime.h"
#include "test/examples/demo_backend/demo_model.h"
#include "test/support/corpus.h"
#include "test/support/read_text.h"
#include "test/support/temporary_file.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::aot {
namespace {

struct LoweredModuleBufferTest : testing::Test {
  std::unique_ptr<Method> load(const std::vector<std::byte>& pte) {
    const vitrine::test::TemporaryFile file(pte);
    EXPECT_TRUE(backends.add(&demo::backend()).ok());
    auto source = map_file(file.path());
    EXPECT_TRUE(source.ok());
    auto program = Program::load(std::move(*source));
    EXPECT_TRUE(program.ok()) << program.error().message();
    MethodOptions options;
    options.kernels = &kernels;
    options.backends = &backends;
    options.tracer = &tracer;
    auto method = Method::load(*program, "forward", options);
    EXPECT_TRUE(method.ok()) << method.error().message();
    return method.ok() ? std::move(*method) : nullptr;
  }

  KernelRegistry kernels;
  BackendRegistry backends;
  vitrine::test::RecordingTracer tracer;
  vitrine::test::TensorFactory factory;
};

TEST_F(LoweredModuleBufferTest, RunsProgramAndMapsTraceToDebugHandles) {
  const std::filesystem::path folder = vitrine::test::samples_dir() / "conv_relu_tan";
  ExportedProgram program = import_pt2(folder / "model.pt2");
  to_edge(program);
  const auto module = to_backend(demo::DemoLowering(), program);
  const EmittedProgram emitted = lowered_module_buffer(module);
  EXPECT_EQ(emitted.pte, lowered_module_buffer(module).pte);
  const auto method = load(emitted.pte);
  ASSERT_NE(method, nullptr);
  Tensor& x =
      factory.make<float>({1, 3, 16, 16}, vitrine::test::read_floats(folder / "input_0.bin"));
  ASSERT_TRUE(method->set_input(0, EValue(&x)).ok());
  const Error error = method->execute();
  ASSERT_TRUE(error.ok()) << error.message();
  ASSERT_EQ(method->num_outputs(), 1U);
  const std::vector<float> expected = vitrine::test::read_floats(folder / "expected_0.bin");
  const Tensor& y = method->output(0).unchecked_tensor();
  ASSERT_EQ(static_cast<size_t>(y.numel()), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(y.data<float>()[i], expected[i], 1e-4 + 1e-4 * std::abs(expected[i])) << i;
  }

  // Each logged operator has an entry in the delegate map. Together, the entries contain all debug
  // handles.
  std::set<uint32_t> handles;
  size_t operators = 0;
  const MethodDebugInfo& debug = emitted.debug_info.at("forward");
  for (const TraceRecord& record : tracer.records) {
    if (record.kind != TraceRecord::Kind::kDelegateOperator) continue;
    ++operators;
    const auto delegate = debug.delegates.find(static_cast<uint32_t>(record.instruction_id));
    ASSERT_NE(delegate, debug.delegates.end());
    const DelegateIdentifier id(static_cast<uint32_t>(record.delegate_debug_id));
    const auto entry = std::ranges::find(delegate->second.map, id, &DelegateMap::value_type::first);
    ASSERT_NE(entry, delegate->second.map.end());
    handles.insert(entry->second.begin(), entry->second.end());
  }
  EXPECT_EQ(operators, 5U);
  EXPECT_THAT(handles, testing::ElementsAre(1U, 2U, 3U, 4U, 5U));
}

TEST_F(LoweredModuleBufferTest, AppliesEmitOptions) {
  const auto module = to_backend(
      demo::DemoLowering(), vitrine::test::demo_model({{1, 1, 2, 2}, {2, 1, 1, 1}, {1, 2, 2, 2}}));
  EmitOptions wide;
  wide.segment_alignment = 4096;
  EmitOptions inline_payload;
  inline_payload.extract_delegate_segments = false;
  EXPECT_GE(lowered_module_buffer(module, wide).pte.size(), 4096U);
  for (const EmitOptions& options : {EmitOptions(), wide, inline_payload}) {
    const auto method = load(lowered_module_buffer(module, options).pte);
    ASSERT_NE(method, nullptr);
    backends = BackendRegistry();
  }
}

}  // namespace
}  // namespace vitrine::aot
