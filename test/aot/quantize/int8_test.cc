// Quantizes small models, lowers them for XNNPACK and compares their results with those of the
// float models.
#include "aot/quantize/int8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/aot_error.h"
#include "aot/optimize/evaluate.h"
#include "aot/passes/pipelines.h"
#include "aot/pipeline/lower.h"
#include "aot/quantize/stored_floats.h"
#include "backends/xnnpack/aot/partitioner.h"
#include "test/aot/passes/lowered_program.h"
#include "test/support/expect_error.h"
#include "vitrine/module.h"

namespace vitrine::aot {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TensorData sines(std::vector<int64_t> sizes, float start = 0, float factor = 1) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = factor * std::sin(start + 0.7F * static_cast<float>(i));
  }
  return tensor_of(ScalarType::kFloat, std::move(sizes), values);
}

CalibrationData samples_of(std::vector<TensorData> inputs) {
  CalibrationData data;
  data.count = inputs.size();
  data.read = [inputs = std::move(inputs)](size_t i) {
    return CalibrationSample{"sample " + std::to_string(i), {inputs[i]}};
  };
  return data;
}

std::vector<float> outputs_of(ExportedProgram program, const TensorData& input) {
  to_edge(program);
  return floats_of(evaluate(program, {&input, 1}).at(0));
}

void expect_close(const std::vector<float>& found, const std::vector<float>& expected,
                  float share) {
  ASSERT_EQ(found.size(), expected.size());
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], share * largest) << "element " << i;
  }
}

Node* linear_of(ModelBuilder& build, const std::string& name, Node* x, int64_t rows) {
  const auto module = build.module(name, "torch.nn.modules.linear.Linear");
  const int64_t columns = x->tensor()->sizes.back().value();
  return build.call("aten.linear.default", {x, build.parameter("weight", sines({rows, columns})),
                                            build.parameter("bias", sines({rows}))});
}

// Two linear layers with an in-place relu between them, and the addition of a number.
ExportedProgram small_model() {
  ModelBuilder build("Net");
  Node* x = build.input("x", ScalarType::kFloat, {2, 8});
  x = build.call("aten.relu_.default", {linear_of(build, "a", x, 16)});
  x = linear_of(build, "b", x, 4);
  return build.finish({build.call("aten.add.Tensor", {x, 0.5})});
}

const TensorData kInput = sines({2, 8}, 1);

// Quantizes the model. Expects results close to those of the float model.
Int8Result expect_quantized_close(ExportedProgram& program, float share,
                                  const Int8Options& options = {},
                                  const CalibrationData& data = samples_of({kInput})) {
  const std::vector<float> expected = outputs_of(program.copy(), kInput);
  Int8Result result = quantize_to_int8(program, options, data);
  expect_close(outputs_of(program.copy(), kInput), expected, share);
  return result;
}

TEST(QuantizeToInt8, StaysCloseToTheFloatModel) {
  ExportedProgram program = small_model();
  const Int8Result result =
      expect_quantized_close(program, 0.03F, {}, samples_of({kInput, sines({2, 8}, 2)}));
  EXPECT_EQ(result.tensors.size(), 7U);
  EXPECT_THAT(result.floats, testing::IsEmpty());
}

TEST(QuantizeToInt8, QuantizedModelIsDelegatedToXnnpack) {
  const std::vector<float> expected = outputs_of(small_model(), kInput);
  for (const bool is_dynamic : {false, true}) {
    LowerOptions options;
    options.partitioners = {std::make_shared<XnnpackPartitioner>()};
    options.quantize.int8 = Int8Options{.scheme = {.is_dynamic = is_dynamic}, .rules = {}};
    if (!is_dynamic) options.calibration = samples_of({kInput});
    Methods methods;
    methods.emplace("forward", small_model());
    const LoweredModel lowered = lower(std::move(methods), options);
    auto module = Module::load(std::span<const std::byte>(lowered.emitted.pte));
    ASSERT_TRUE(module.ok()) << module.error().message();
    const std::vector<float> values = floats_of(kInput);
    const auto outputs = module->forward({*Array::copy_of<float>(values, {2, 8})});
    ASSERT_TRUE(outputs.ok()) << outputs.error().message();
    const auto result = outputs->at(0).array()->data<float>();
    ASSERT_TRUE(result.ok());
    expect_close({result->begin(), result->end()}, expected, 0.04F);
  }
}

TEST(QuantizeToInt8, DynamicSchemeNeedsNoCalibrationData) {
  ExportedProgram program = small_model();
  expect_quantized_close(program, 0.03F, {.scheme = {.is_dynamic = true}, .rules = {}}, {});
}

TEST(QuantizeToInt8, ObservesTensorsBeforeLaterWrites) {
  Net build({2, 8});
  Node* layer = linear_of(build, "a", build.x, 4);
  Node* written = build.call("aten.relu_.default", {layer});
  ExportedProgram program = build.finish({build.call("aten.add.Tensor", {written, layer})});
  const Int8Result result = quantize_to_int8(program, {}, samples_of({kInput}));
  for (const QuantizedTensor& tensor : result.tensors) {
    if (tensor.name == "linear") {
      EXPECT_LT(tensor.range.low, 0);
    }
  }
}

void expect_error(ExportedProgram program, const CalibrationData& data,
                  const testing::Matcher<std::string>& message) {
  EXPECT_THAT([&] { quantize_to_int8(program, {}, data); }, ThrowsMessage<AotError>(message));
}

TEST(QuantizeToInt8, ErrorsNameMissingAndInvalidCalibrationData) {
  expect_error(small_model(), {}, HasSubstr("static int8 needs calibration data"));
  std::vector<float> values = floats_of(kInput);
  values[3] = std::nanf("");
  expect_error(small_model(), samples_of({kInput, tensor_of(ScalarType::kFloat, {2, 8}, values)}),
               "calibration with sample 1: the tensor x: it contains NaN");
  expect_error(small_model(), samples_of({sines({2, 8}, 1, 1e37F)}),
               HasSubstr("the tensor x: values from -9"));
}

TEST(QuantizeToInt8, ErrorNamesTheSampleWithAnIndexOutOfRange) {
  ModelBuilder build("Net");
  Node* ids = build.input("ids", ScalarType::kLong, {2});
  Node* rows = build.call("aten.embedding.default", {build.parameter("table", sines({4, 8})), ids});
  ExportedProgram program = build.finish({linear_of(build, "a", rows, 4)});
  std::vector<std::byte> bytes(2 * sizeof(int64_t));
  bytes[0] = std::byte{4};
  const TensorData wrong = make_tensor_data(ScalarType::kLong, {2}, bytes);
  expect_error(std::move(program), samples_of({wrong}),
               HasSubstr("calibration with sample 0: evaluation: "));
}

TEST(QuantizeToInt8, RejectsModelsThatAreQuantizedOrHaveNothingToQuantize) {
  Net build({2, 8});
  expect_error(build.finish({build.call("aten.tanh.default", {build.x})}), samples_of({kInput}),
               HasSubstr("nothing in the model can become int8"));
  ExportedProgram program = small_model();
  quantize_to_int8(program, {}, samples_of({kInput}));
  expect_error(std::move(program), samples_of({kInput}),
               HasSubstr("the model is already quantized"));
}

TEST(QuantizeToInt8, MasksWithInfinityStayFloat) {
  Net build({2, 8});
  std::vector<float> mask(4);
  mask[1] = -INFINITY;
  Node* layer = linear_of(build, "a", build.x, 4);
  Node* masked = build.call(
      "aten.add.Tensor", {layer, build.buffer("mask", tensor_of(ScalarType::kFloat, {4}, mask))});
  ExportedProgram program = build.finish({build.call("aten.softmax.int", {masked, -1})});
  const Int8Result result = expect_quantized_close(program, 0.05F);
  ASSERT_FALSE(result.floats.empty());
  EXPECT_THAT(result.floats[0].reason, HasSubstr("infinite"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("not quantized: add: ")));
}

TEST(QuantizeToInt8, FiniteMasksStayFloat) {
  Net build({2, 8});
  Node* layer = linear_of(build, "a", build.x, 4);
  Node* mask = build.buffer("mask", tensor_of(ScalarType::kFloat, {4}, {0, -1e9F, 0, 0}));
  Node* masked = build.call("aten.add.Tensor", {layer, mask});
  ExportedProgram program = build.finish({build.call("aten.softmax.int", {masked, -1})});
  const Int8Result result = expect_quantized_close(program, 0.05F);
  EXPECT_THAT(result.floats.at(0).reason, HasSubstr("mask is a mask that contains -1e+09"));
}

TEST(QuantizeToInt8, BuffersThatTheModelWritesStayFloat) {
  Net build({2, 8});
  Node* sum = build.buffer("sum", sines({2, 4}));
  Node* layer = linear_of(build, "a", build.x, 4);
  Node* written = build.call("aten.add_.Tensor", {sum, layer});
  ExportedProgram program = build.finish({written});
  expect_quantized_close(program, 0.05F);
}

TEST(QuantizeToInt8, QuantizesConstantExpressionsAheadOfTime) {
  Net build({2, 8});
  Node* weight = build.parameter("weight", sines({8, 4}));
  Node* transposed = build.call("aten.t.default", {weight});
  ExportedProgram program =
      build.finish({build.call("aten.linear.default", {build.x, transposed})});
  expect_quantized_close(program, 0.03F);
  EXPECT_TRUE(program.constants.contains("_frozen_param0"));
  EXPECT_FALSE(program.state_dict.contains("weight"));
}

TEST(ParseQuantization, ReadsInt8Schemes) {
  EXPECT_EQ(parse_quantization("int8").int8, Int8Options{});
  EXPECT_EQ(parse_quantization("int8_dynamic:per_tensor").int8,
            (Int8Options{.scheme = {.is_dynamic = true, .is_per_channel = false}, .rules = {}}));
  EXPECT_ERROR(AotError, parse_quantization("int8:hqq"),
               "expected int8:per_channel or int8:per_tensor");
  EXPECT_ERROR(AotError, parse_quantization("int8,8da4w"), "choose one");
}

TEST(AddRule, ReadsPatternsAndSchemes) {
  Quantization to = parse_quantization("int8");
  add_rule("classifier.*=float", to);
  add_rule("head=int8_dynamic", to);
  ASSERT_EQ(to.int8->rules.size(), 2U);
  EXPECT_EQ(to.int8->rules[0].pattern, "classifier.*");
  EXPECT_FALSE(to.int8->rules[0].scheme);
  EXPECT_TRUE(to.int8->rules[1].scheme->is_dynamic);
}

TEST(AddRule, RejectsMalformedRulesAndUnknownSchemes) {
  Quantization to = parse_quantization("int8");
  EXPECT_ERROR(AotError, add_rule("head", to), "expected PART=SCHEME");
  EXPECT_ERROR(AotError, add_rule("head=int4", to), "unknown scheme \"int4\"");
  to = parse_quantization("8da4w");
  EXPECT_ERROR(AotError, add_rule("head=int8", to), "needs --quantize int8");
}

TEST(AddRule, WeightOnlySchemeExcludesMatchingModulesFromInt8) {
  Quantization to = parse_quantization("int8");
  add_rule("layers.0.*=8da4w:32", to);
  add_rule("tok=embedding:4:32:affine", to);
  ASSERT_EQ(to.weights.rules.size(), 2U);
  EXPECT_EQ(to.weights.rules[0].pattern, "layers.0.*");
  EXPECT_EQ(to.weights.rules[0].linears, (WeightScheme{.bits = 4, .group = 32}));
  EXPECT_FALSE(to.weights.rules[0].embeddings);
  EXPECT_EQ(to.weights.rules[1].embeddings,
            (WeightScheme{.bits = 4, .group = 32, .scale_rule = ScaleRule::kAffine}));
  ASSERT_EQ(to.int8->rules.size(), 1U);
  EXPECT_EQ(to.int8->rules[0].kept_as, "8da4w:32");
}

}  // namespace
}  // namespace vitrine::aot
