// Tests how the demo backend runs payloads: those that its ahead-of-time code writes, and damaged
// ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "aot/import/pt2.h"
#include "aot/lowering/to_backend.h"
#include "aot/passes/pipelines.h"
#include "demo_backend/lowering.h"
#include "demo_backend/runtime.h"
#include "test/examples/demo_backend/demo_model.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/expect_near.h"
#include "test/support/program_builder.h"
#include "test/support/read_text.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"

namespace vitrine::test {
namespace {

using testing::HasSubstr;

std::vector<std::byte> payload_of(const ConvolutionSpec& spec) {
  return *aot::to_backend(demo::DemoLowering(), demo_model(spec))->payload;
}

// Computes the model by its formula, window by window, in double precision.
std::vector<float> expected_of(const ConvolutionSpec& s, const std::vector<float>& x) {
  std::vector<float> result;
  const int64_t in = s.weight[1], height = s.weight[2], width = s.weight[3];
  for (int64_t n = 0; n < s.result[0]; ++n)
    for (int64_t o = 0; o < s.result[1]; ++o)
      for (int64_t y = 0; y < s.result[2]; ++y)
        for (int64_t z = 0; z < s.result[3]; ++z) {
          double sum = s.has_bias ? (o % 2 == 0 ? -0.5 : 0.5) : 0;
          for (int64_t c = 0; c < in; ++c)
            for (int64_t i = 0; i < height; ++i)
              for (int64_t k = 0; k < width; ++k) {
                const int64_t row = y * s.stride[0] - s.padding[0] + i * s.dilation[0];
                const int64_t column = z * s.stride[1] - s.padding[1] + k * s.dilation[1];
                if (row < 0 || row >= s.input[2] || column < 0 || column >= s.input[3]) continue;
                const int64_t channel = o / (s.result[1] / s.groups) * in + c;
                const int64_t at = ((n * s.input[1] + channel) * s.input[2] + row) * s.input[3];
                sum += static_cast<double>(x[static_cast<size_t>(at + column)]) * 0.01 *
                       static_cast<double>(((o * in + c) * height + i) * width + k + 1);
              }
          result.push_back(static_cast<float>(std::tan(std::max(sum, 0.0))));
        }
  return result;
}

std::vector<int32_t> narrow(const std::vector<int64_t>& sizes) {
  return {sizes.begin(), sizes.end()};
}

struct DemoBackendExecution : testing::Test {
  TensorFactory factory;
  RecordingTracer tracer;

  std::unique_ptr<Delegate> load(std::span<const std::byte> payload) {
    return require(demo::backend().init({}, payload, {}));
  }

  Error execute(Delegate& delegate, const std::vector<Tensor*>& tensors) {
    std::vector<EValue*> arguments;
    for (Tensor* tensor : tensors) arguments.push_back(&factory.value(*tensor));
    BackendExecutionContext context;
    context.tracer = &tracer;
    context.chain_index = 0;
    context.instruction_id = 3;
    return delegate.execute(context, arguments);
  }

  void expect_formula(const ConvolutionSpec& spec) {
    size_t count = 1;
    for (const int64_t size : spec.input) count *= static_cast<size_t>(size);
    std::vector<float> values;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 7) * 0.25F - 0.5F);
    Tensor& x = factory.make<float>(narrow(spec.input), values);
    Tensor& y = factory.make(ScalarType::kFloat, narrow(spec.result));
    const auto delegate = load(payload_of(spec));
    const Error error = execute(*delegate, {&x, &y});
    ASSERT_TRUE(error.ok()) << error.message();
    expect_near(values_of<float>(y), expected_of(spec, values));
  }

  std::string load_error(const std::vector<std::byte>& payload) {
    const auto loaded = demo::backend().init({}, payload, {});
    return loaded.ok() ? "(none)" : loaded.error().message();
  }
};

TEST_F(DemoBackendExecution, MatchesTheFormula) {
  expect_formula({{1, 1, 3, 3}, {2, 1, 2, 2}, {1, 2, 2, 2}});
  expect_formula({{2, 3, 5, 4}, {4, 3, 3, 2}, {2, 4, 3, 5}, {2, 1}, {1, 1}, {1, 1}});
  expect_formula({{1, 4, 6, 6}, {6, 2, 2, 3}, {1, 6, 4, 2}, {1, 1}, {0, 0}, {2, 2}, 2, false});
}

TEST_F(DemoBackendExecution, DistinguishesInputsFromOutputs) {
  const auto delegate = load(payload_of({{1, 1, 2, 2}, {2, 1, 1, 1}, {1, 2, 2, 2}}));
  EXPECT_FALSE(delegate->is_output(0));
  EXPECT_TRUE(delegate->is_output(1));
}

TEST_F(DemoBackendExecution, LogsTheIdentifierOfEachOperator) {
  const ConvolutionSpec spec = {{1, 1, 2, 2}, {2, 1, 1, 1}, {1, 2, 2, 2}};
  expect_formula(spec);
  ASSERT_EQ(tracer.records.size(), 4U);
  const char* names[] = {"conv_relu_op", "sin_decomp_from_tan", "cos_decomp_from_tan",
                         "div_decomp_from_tan"};
  for (size_t i = 0; i < 4; ++i) {
    const TraceRecord& record = tracer.records[i];
    EXPECT_EQ(record.kind, TraceRecord::Kind::kDelegateOperator);
    EXPECT_EQ(record.delegate_debug_id, static_cast<int32_t>(i));
    EXPECT_EQ(record.name, nullptr);
    EXPECT_EQ(std::string_view(record.metadata, record.metadata_size), names[i]);
    EXPECT_EQ(record.instruction_id, 3);
    EXPECT_LE(record.start_ns, record.end_ns);
  }
}

TEST_F(DemoBackendExecution, OutputsMatchPyTorch) {
  const std::filesystem::path folder = samples_dir() / "conv_relu_tan";
  aot::ExportedProgram program = aot::import_pt2(folder / "model.pt2");
  aot::to_edge(program);
  const auto module = aot::to_backend(demo::DemoLowering(), program);
  const auto delegate = load(*module->payload);
  Tensor& x = factory.make<float>({1, 3, 16, 16}, read_floats(folder / "input_0.bin"));
  Tensor& y = factory.make(ScalarType::kFloat, {1, 32, 16, 16});
  const Error error = execute(*delegate, {&x, &y});
  ASSERT_TRUE(error.ok()) << error.message();
  expect_near(values_of<float>(y), read_floats(folder / "expected_0.bin"));
  // The five operators are two convolutions, each fused with a relu, and three operators for the
  // tan. ExecuTorch's delegate map has the same operators.
  ASSERT_EQ(tracer.records.size(), 5U);
  EXPECT_EQ(module->delegate_map.size(), 5U);
}

TEST_F(DemoBackendExecution, RejectsArgumentsWithWrongShapesOrDtypes) {
  const ConvolutionSpec spec = {{1, 1, 2, 2}, {2, 1, 1, 1}, {1, 2, 2, 2}};
  const auto delegate = load(payload_of(spec));
  Tensor& x = factory.make(ScalarType::kFloat, {1, 1, 2, 2});
  Tensor& wide = factory.make(ScalarType::kFloat, {1, 1, 2, 3});
  Tensor& ints = factory.make(ScalarType::kInt, {1, 1, 2, 2});
  Tensor& last = factory.make(ScalarType::kFloat, {1, 2, 2, 2}, {0, 2, 3, 1});
  Tensor& y = factory.make(ScalarType::kFloat, {1, 2, 2, 2});
  EXPECT_THAT(execute(*delegate, {&x}).message(), HasSubstr("needs 2 arguments"));
  EXPECT_THAT(execute(*delegate, {&wide, &y}).message(), HasSubstr("argument 0: is f32[1,1,2,3]"));
  EXPECT_THAT(execute(*delegate, {&ints, &y}).message(), HasSubstr("argument 0: is i32"));
  EXPECT_THAT(execute(*delegate, {&x, &last}).message(),
              HasSubstr("argument 1: is f32[1,2,2,2]; it must be"));
  EXPECT_TRUE(execute(*delegate, {&x, &y}).ok());
}

TEST_F(DemoBackendExecution, RejectsExecuTorchPayloadThatStoresNoWeights) {
  EXPECT_THAT(load_error(bytes_of("1#conv_relu_op,0,")), HasSubstr("stores no weights"));
}

// Every truncated payload must cause an error. A payload with a changed byte may run. Sanitizers
// find invalid memory accesses.
TEST_F(DemoBackendExecution, RejectsTruncatedPayloadsAndSurvivesDamagedOnes) {
  const ConvolutionSpec spec = {
      {1, 2, 3, 3}, {2, 1, 2, 2}, {1, 2, 2, 2}, {1, 1}, {0, 0}, {1, 1}, 2};
  const std::vector<std::byte> valid = payload_of(spec);
  for_each_truncation(valid, [&](const auto& cut, const Damage& damage) {
    EXPECT_NE(load_error(cut), "(none)") << damage;
  });
  Tensor& x = factory.make<float>({1, 2, 3, 3}, std::vector<float>(18, 1));
  Tensor& y = factory.make(ScalarType::kFloat, {1, 2, 2, 2});
  const auto run = [&](const auto& changed, const Damage&) {
    auto loaded = demo::backend().init({}, changed, {});
    if (loaded.ok()) (void)execute(**loaded, {&x, &y}).ok();
  };
  for_each_changed_byte(valid, run);
  for_each_random_damage(valid, 2000, run);
}

TEST_F(DemoBackendExecution, ErrorNamesTheInvalidPartOfThePayload) {
  const auto text = [&](const char* payload) { return load_error(bytes_of(payload)); };
  EXPECT_THAT(text(""), HasSubstr("does not begin with a number"));
  EXPECT_THAT(text("x#"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(text("4294967296#"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(text("9#a,0,"), HasSubstr("the text ends early"));
  EXPECT_THAT(text("1#cos_decomp_from_tan,x,"), HasSubstr("an operator does not have the form"));
  EXPECT_THAT(text("1#cos_decomp_from_tan,0,b"), HasSubstr("more text follows the operators"));
}

}  // namespace
}  // namespace vitrine::test
