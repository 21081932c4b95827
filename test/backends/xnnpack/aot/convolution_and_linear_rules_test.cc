#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Origin> source(const char* torch_fn) {
  auto origin = std::make_shared<Origin>();
  origin->torch_fn = torch_fn;
  return origin;
}

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, bool transposed = false,
                  int64_t groups = 1) {
  return t.call("aten.convolution.default",
                {input, weight, bias == nullptr ? Argument() : Argument(bias), kOnes, kZeros, kOnes,
                 transposed, kZeros, groups},
                {1, 4, 8, 8});
}

Node* batch_norm(TestProgram& t, Node* input, Node* mean) {
  Node* norm = t.call("aten._native_batch_norm_legit_no_training.default",
                      {input, t.parameter("w", {4}), t.parameter("b", {4}), mean,
                       t.parameter("var", {4}), 0.1, 1e-5},
                      {});
  const Value value = *input->tensor();
  norm->meta.value = Value(Value::Items{value, value, value});
  Node* item = t.program.graph->call(getitem(), {norm, 0});
  item->meta.value = value;
  return norm;
}

Node* quantised_convolution(TestProgram& t, int64_t zero_point, bool result, bool transposed) {
  Node* input = t.dequantise(t.quantise(images(t), 0.1, 0), 0.1, 0);
  Node* weight = t.dequantise_channels(
      t.int8_parameter("w", {4, 4, 1, 1}, std::vector<int8_t>(16, 1)),
      t.parameter("s", {4}, {1, 1, 1, 1}),
      t.int8_parameter("z", {4}, std::vector<int8_t>(4, static_cast<int8_t>(zero_point))), 0);
  Node* call = convolution(t, input, weight, t.parameter("b", {4}), transposed);
  if (result) t.quantise(call, 0.1, 0);
  return call;
}

Node* quantised_weight(TestProgram& t, std::vector<int64_t> sizes, int64_t axis) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  const int64_t channels = sizes.at(static_cast<size_t>(axis));
  Node* weight = t.int8_parameter("w", std::move(sizes), std::vector<int8_t>(count, 1));
  return t.dequantise_channels(
      weight, t.parameter("s", {channels}, std::vector<float>(static_cast<size_t>(channels), 1)),
      t.int8_parameter("z", {channels}, std::vector<int8_t>(static_cast<size_t>(channels))), axis);
}

// Pads int8 images with zeros, or with a given value, before a convolution.
Node* padded_convolution(TestProgram& t, std::vector<int64_t> amounts, double value = 0.0,
                         bool transposed = false) {
  Node* input = t.dequantise(t.quantise(images(t), 0.1, 0), 0.1, 0);
  Node* padded =
      t.call("aten.constant_pad_nd.default", {input, std::move(amounts), value}, {1, 4, 8, 8});
  Node* weight = quantised_weight(t, {4, 4, 1, 1}, transposed ? 1 : 0);
  Node* call = convolution(t, padded, weight, nullptr, transposed);
  t.quantise(call, 0.1, 0);
  return call;
}

// Of unknown number and length.
Node* sequences(TestProgram& t) {
  Node* x = t.dynamic_input("x", {1, 4, 8}, 3);
  TensorSpec spec = *x->tensor();
  spec.sizes[2] = SymInt(Expression::symbol("s1"));
  t.program.range_constraints["s1"] = {4, 9};
  x->meta.value = spec;
  return x;
}

Node* sequence_convolution(TestProgram& t, Node* input) {
  const std::vector<int64_t> one = {1};
  const std::vector<int64_t> zero = {0};
  Node* call =
      t.call("aten.convolution.default",
             {input, t.parameter("k", {4, 4, 1}), Argument(), one, zero, one, false, zero, 1}, {});
  call->meta.value = *input->tensor();
  return call;
}

// Transposed, extended by 1, and dilated so that PyTorch allows it for a stride of 1 too.
Node* extended_convolution(TestProgram& t, int64_t stride) {
  const std::vector<int64_t> strides = {stride, stride};
  const int64_t size = 7 * stride + 6;
  return t.call("aten.convolution.default",
                {images(t), t.parameter("w", {4, 4, 3, 3}), Argument(), strides, kZeros,
                 std::vector<int64_t>{2, 2}, true, kOnes, 1},
                {1, 4, size, size});
}

const RuleRow kConvolutionAndLinearRules[] = {
    {"BatchNorm", [](TestProgram& t) { return batch_norm(t, images(t), t.parameter("m", {4})); },
     ""},
    {"BatchNormOfInputs",
     [](TestProgram& t) { return batch_norm(t, images(t), t.input("m", {4})); }, "parameters"},
    {"BatchNormOfFive",
     [](TestProgram& t) {
       return batch_norm(t, t.input("x", {1, 4, 2, 2, 2}), t.parameter("m", {4}));
     },
     "5 dims"},
    {"BatchNormBehindVolumes",
     [](TestProgram& t) {
       Node* call = convolution(t, t.input("x", {1, 4, 2, 2, 2}), t.parameter("v", {4, 4, 1, 1, 1}),
                                nullptr);
       call->meta.value = contiguous_spec(ScalarType::kFloat, {1, 4, 2, 2, 2});
       return batch_norm(t, call, t.parameter("m", {4}));
     },
     "5 dims"},
    {"BatchNormOfUnknownBatchesAndLengths",
     [](TestProgram& t) { return batch_norm(t, sequences(t), t.parameter("m", {4})); },
     "more than one of its sizes"},
    {"ConvolutionOfUnknownBatchesAndLengths",
     [](TestProgram& t) { return sequence_convolution(t, sequences(t)); },
     "more than one of its sizes"},
    {"BatchNormBehindUnknownBatchesAndLengths",
     [](TestProgram& t) {
       return batch_norm(t, sequence_convolution(t, sequences(t)), t.parameter("m", {4}));
     },
     "more than one of its sizes"},
    {"ConvolutionOfUnknownBatches",
     [](TestProgram& t) {
       return sequence_convolution(t, t.dynamic_input("x", {1, 4, 8}, 3));
     },
     ""},
    {"TransposedExtendedLessThanItsStride",
     [](TestProgram& t) { return extended_convolution(t, 2); }, ""},
    {"TransposedExtendedByItsStride", [](TestProgram& t) { return extended_convolution(t, 1); },
     "output_padding"},
    {"Convolution",
     [](TestProgram& t) {
       return convolution(t, images(t), t.parameter("w", {4, 4, 1, 1}), t.parameter("b", {4}));
     },
     ""},
    {"ConvolutionByInput",
     [](TestProgram& t) {
       return convolution(t, images(t), t.input("w", {4, 4, 1, 1}), nullptr);
     },
     "its weight w is computed"},
    {"ConvolutionPlusInput",
     [](TestProgram& t) {
       return convolution(t, images(t), t.parameter("w", {4, 4, 1, 1}), t.input("b", {4}));
     },
     "its bias"},
    {"ConvolutionOfVolumes",
     [](TestProgram& t) {
       return convolution(t, t.input("x", {1, 4, 2, 2, 2}), t.parameter("w", {4, 4, 1, 1, 1}),
                          nullptr);
     },
     "one and two dims"},
    {"QuantisedConvolution",
     [](TestProgram& t) { return quantised_convolution(t, 0, true, false); }, ""},
    {"QuantisedToFloat", [](TestProgram& t) { return quantised_convolution(t, 0, false, false); },
     "the result is not"},
    {"QuantisedAsymmetrically",
     [](TestProgram& t) { return quantised_convolution(t, 3, true, false); }, "zero points"},
    {"QuantisedTransposed", [](TestProgram& t) { return quantised_convolution(t, 0, true, true); },
     "axis 1"},
    {"WeightQuantisedOnly",
     [](TestProgram& t) {
       return convolution(
           t, images(t),
           t.dequantise(t.int8_parameter("w", {4, 4, 1, 1}, std::vector<int8_t>(16)), 0.1, 0),
           nullptr);
     },
     "the input is not"},
    {"QuantisedPadded",
     [](TestProgram& t) {
       return padded_convolution(t, {1, 1, 1, 1});
     },
     ""},
    {"QuantisedPaddedByOnes",
     [](TestProgram& t) {
       return padded_convolution(t, {1, 1, 1, 1}, 1.0);
     },
     "the input is not"},
    {"QuantisedCropped",
     [](TestProgram& t) {
       return padded_convolution(t, {-1, 1});
     },
     "the input is not"},
    {"QuantisedPaddedChannels",
     [](TestProgram& t) {
       return padded_convolution(t, {0, 0, 0, 0, 1, 0});
     },
     "the input is not"},
    {"QuantisedPaddedTransposed",
     [](TestProgram& t) {
       return padded_convolution(t, {1, 1, 1, 1}, 0.0, true);
     },
     "the input is not"},
    {"QuantisedPaddedLinear",
     [](TestProgram& t) {
       Node* x = t.dequantise(t.quantise(matrix(t), 0.1, 0), 0.1, 0);
       Node* padded =
           t.call("aten.constant_pad_nd.default", {x, std::vector<int64_t>{1, 0}, 0.0}, {2, 5});
       Node* call = t.call("aten.linear.default", {padded, quantised_weight(t, {3, 5}, 0)}, {2, 3});
       t.quantise(call, 0.1, 0);
       return call;
     },
     "the input is not"},
    {"DynamicOf4Bits",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantised(matrix(t));
       Node& quantise = *x->args()[0].node();
       ArgumentList args = quantise.args();
       args[3] = -8;
       args[4] = 7;
       quantise.set_args(args);
       return t.call("aten.linear.default", {x, quantised_weight(t, {3, 4}, 0)}, {2, 3});
     },
     "its input: it is quantised to -8 to 7"},
    {"DynamicTransposed",
     [](TestProgram& t) {
       return convolution(t, t.dynamically_quantised(images(t)),
                          quantised_weight(t, {4, 4, 1, 1}, 1), nullptr, true);
     },
     ""},
    {"DynamicTransposedOfOneChannel",
     [](TestProgram& t) {
       return convolution(t, t.dynamically_quantised(t.input("x", {1, 1, 8, 8})),
                          quantised_weight(t, {1, 4, 1, 1}, 1), nullptr, true);
     },
     "not depthwise"},
    {"Linear",
     [](TestProgram& t) {
       return t.call("aten.linear.default", {matrix(t), t.parameter("w", {3, 4})}, {2, 3});
     },
     ""},
    {"LinearByInput",
     [](TestProgram& t) {
       return t.call("aten.linear.default", {matrix(t), t.input("w", {3, 4})}, {2, 3});
     },
     "its weight"},
    {"LinearPlusOneForAll",
     [](TestProgram& t) {
       return t.call("aten.linear.default",
                     {matrix(t), t.parameter("w", {3, 4}), t.parameter("b", {1})}, {2, 3});
     },
     "one number for each output"},
    {"LinearPlusAScalar",
     [](TestProgram& t) {
       return t.call("aten.linear.default",
                     {matrix(t), t.parameter("w", {3, 4}), t.parameter("b", {})}, {2, 3});
     },
     "one number for each output"},
    {"LinearPlusOneForOne",
     [](TestProgram& t) {
       return t.call("aten.linear.default",
                     {matrix(t), t.parameter("w", {1, 4}), t.parameter("b", {1})}, {2, 1});
     },
     ""},
    {"LinearByAVector",
     [](TestProgram& t) {
       return t.call("aten.linear.default", {matrix(t), t.parameter("w", {4})}, {2});
     },
     "not a matrix"},
    {"AddmmPlusOneForAll",
     [](TestProgram& t) {
       return t.call("aten.addmm.default",
                     {t.parameter("b", {1}), matrix(t), t.parameter("w", {4, 3})}, {2, 3});
     },
     "one number for each output"},
    {"DynamicLinearPerTensor",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantised(matrix(t));
       return t.call(
           "aten.linear.default",
           {x, t.dequantise(t.int8_parameter("w", {3, 4}, std::vector<int8_t>(12)), 0.1, 0)},
           {2, 3});
     },
     "per channel or block"},
    {"DynamicDepthwise",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantised(images(t));
       Node* w = t.dequantise_channels(t.int8_parameter("w", {4, 1, 1, 1}, std::vector<int8_t>(4)),
                                       t.parameter("s", {4}, {1, 1, 1, 1}),
                                       t.int8_parameter("z", {4}, std::vector<int8_t>(4)), 0);
       return convolution(t, x, w, nullptr, false, 4);
     },
     "not depthwise"},
    {"Addmm",
     [](TestProgram& t) {
       Node* w = t.parameter("w", {3, 4});
       Node* p = t.call("aten.permute_copy.default", {w, std::vector<int64_t>{1, 0}}, {4, 3});
       return t.call("aten.addmm.default", {t.parameter("b", {3}), matrix(t), p}, {2, 3});
     },
     ""},
    {"MatmulOfTransposed",
     [](TestProgram& t) {
       Node* w = t.parameter("w", {3, 4});
       Node* p = t.call("aten.permute_copy.default", {w, std::vector<int64_t>{1, 0}}, {4, 3});
       Node* mm = t.call("aten.mm.default", {matrix(t), p}, {2, 3});
       p->meta.origin = source("t_1;method_descriptor.t");
       mm->meta.origin = source("matmul_1;method_descriptor.matmul");
       return mm;
     },
     "transposes the weight"},
    {"DecomposedLinear",
     [](TestProgram& t) {
       Node* w = t.parameter("w", {3, 4});
       Node* p = t.call("aten.permute_copy.default", {w, std::vector<int64_t>{1, 0}}, {4, 3});
       Node* mm = t.call("aten.mm.default", {matrix(t), p}, {2, 3});
       p->meta.origin = source("linear_1;builtin_function_or_method.linear");
       mm->meta.origin = source("linear_1;builtin_function_or_method.linear");
       return mm;
     },
     ""},
    {"AddmmOfComputed",
     [](TestProgram& t) {
       return t.call("aten.addmm.default", {t.parameter("b", {3}), matrix(t), t.input("w", {4, 3})},
                     {2, 3});
     },
     "its weight"},
    {"AddmmScaled",
     [](TestProgram& t) {
       return t.call("aten.addmm.default",
                     {t.parameter("b", {3}), matrix(t), t.parameter("w", {4, 3})}, {2, 3},
                     ScalarType::kFloat, {{"alpha", 2}});
     },
     "alpha or beta"},
};

class ConvolutionAndLinearRules : public testing::TestWithParam<RuleRow> {};

TEST_P(ConvolutionAndLinearRules, Say) { expect_reason(GetParam()); }

INSTANTIATE_TEST_SUITE_P(All, ConvolutionAndLinearRules,
                         testing::ValuesIn(kConvolutionAndLinearRules), row_name);

TEST(RulesByPrecision, LeaveOutWhatIsNotAskedFor) {
  TestProgram t;
  Node* linear = t.call("aten.linear.default", {matrix(t), t.parameter("w", {3, 4})}, {2, 3});
  EXPECT_EQ(reason_against(t, linear, xnnpack::kFloat), "");
  EXPECT_THAT(reason_against(t, linear, xnnpack::kDynamic), HasSubstr("this partitioner"));
}

// By a partitioner for floats alone; what dequantises stays outside.
TEST(RulesByPrecision, TakeQuantisedLinearCallsAsFloats) {
  TestProgram t;
  Node* x = t.dequantise(t.quantise(matrix(t), 0.1, 0), 0.1, 0);
  Node* w = quantised_weight(t, {3, 4}, 0);
  Node* linear = t.call("aten.linear.default", {x, w, t.parameter("b", {3})}, {2, 3});
  Node* relu = t.call("aten.relu.default", {linear}, {2, 3});
  Node* quantised = t.quantise(relu, 0.1, 0);
  t.output({quantised});
  Node* conv = quantised_convolution(t, 0, true, false);
  EXPECT_EQ(reason_against(t, linear, xnnpack::kFloat), "");
  EXPECT_THAT(reason_against(t, linear, xnnpack::kDynamic), HasSubstr("this partitioner"));
  EXPECT_THAT(reason_against(t, conv, xnnpack::kFloat), HasSubstr("this partitioner"));
  XnnpackPartitioner::Options options;
  options.precisions = xnnpack::kFloat;
  XnnpackPartitioner(options).partition(t.program);
  const std::string& tag = linear->meta.delegation_tag;
  EXPECT_FALSE(tag.empty());
  EXPECT_EQ(relu->meta.delegation_tag, tag);
  for (const Node* outside : {x, w, quantised}) EXPECT_EQ(outside->meta.delegation_tag, "");
}

// What clamps so is refused, and stays outside.
TEST(ReversedBounds, AreNotFused) {
  TestProgram t;
  Node* linear = t.call("aten.linear.default", {matrix(t), t.parameter("w", {3, 4})}, {2, 3});
  Node* reversed = t.call("aten.hardtanh.default", {linear, 2.0, 1.0}, {2, 3});
  t.output({reversed});
  XnnpackPartitioner().partition(t.program);
  EXPECT_NE(linear->meta.delegation_tag, "");
  EXPECT_EQ(reversed->meta.delegation_tag, "");
}

// What ExecuTorch calls force_non_static_weights_for_f32_linear.
TEST(ComputedWeights, AreTakenOfMatrixProductsIfAsked) {
  TestProgram t;
  Node* x = matrix(t);
  Node* w = t.input("w", {3, 4});
  Node* b = t.input("b", {3});
  Node* linear = t.call("aten.linear.default", {x, w, b}, {2, 3});
  Node* addmm = t.call("aten.addmm.default", {b, x, t.input("v", {4, 3})}, {2, 3});
  Node* product = t.call("aten.mm.default", {x, t.input("u", {4, 3})}, {2, 3});
  Node* conv = convolution(t, images(t), t.input("k", {4, 4, 1, 1}), nullptr);
  t.output({linear, addmm, product, conv});
  const xnnpack::Parameters parameters(t.program);
  for (Node* node : {linear, addmm, product}) {
    EXPECT_TRUE(xnnpack::check({parameters, *node})) << node->name();
    EXPECT_FALSE(xnnpack::check({parameters, *node, xnnpack::kAnyPrecision, true})) << node->name();
  }
  EXPECT_TRUE(xnnpack::check({parameters, *conv, xnnpack::kAnyPrecision, true}));
  XnnpackPartitioner::Options options;
  options.allows_dynamic_weights = true;
  XnnpackPartitioner(options).partition(t.program);
  EXPECT_FALSE(linear->meta.delegation_tag.empty());
  EXPECT_TRUE(b->meta.delegation_tag.empty());
}

}  // namespace
}  // namespace vitrine::aot::test
