#include "backends/xnnpack/aot/partitioner.h"
#include "test/backends/xnnpack/aot/rule_rows.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;

Node* transposed_weight(TestProgram& t) {
  return t.call("aten.permute_copy.default", {t.parameter("w", {3, 4}), Ints{1, 0}}, {4, 3});
}

// Adds a transposition and a matrix product that come from these PyTorch functions.
MakeNode mm_from(const char* transposition, const char* product) {
  const auto origin = [](const char* torch_fn) {
    Origin made;
    made.torch_fn = torch_fn;
    return std::make_shared<const Origin>(made);
  };
  return [=](TestProgram& t) {
    Node* w = transposed_weight(t);
    Node* mm = t.call("aten.mm.default", {matrix(t), w}, {2, 3});
    w->meta.origin = origin(transposition);
    mm->meta.origin = origin(product);
    return mm;
  };
}

Node* convolution(TestProgram& t, Node* input, Node* weight, Node* bias, bool transposed = false,
                  int64_t groups = 1) {
  return t.call("aten.convolution.default",
                {input, weight, bias == nullptr ? Argument() : Argument(bias), kOnes, kZeros, kOnes,
                 transposed, kZeros, groups},
                {1, 4, 8, 8});
}

Node* batch_norm(TestProgram& t, Node* input, Node* mean) {
  Node* norm = t.tuple_call("aten._native_batch_norm_legit_no_training.default",
                            {input, t.parameter("w", {4}), t.parameter("b", {4}), mean,
                             t.parameter("var", {4}), 0.1, 1e-5},
                            std::vector(3, *input->tensor()));
  t.item(norm, 0);
  return norm;
}

Node* quantized_convolution(TestProgram& t, int8_t zero_point, bool result, bool transposed) {
  Node* input = t.fake_quantize(images(t), 0.1, 0);
  Node* weight = t.quantized_parameter("w", {4, 4, 1, 1}, std::vector<int8_t>(16, 1), {1, 1, 1, 1},
                                       0, zero_point);
  Node* call = convolution(t, input, weight, t.parameter("b", {4}), transposed);
  if (result) t.quantize(call, 0.1, 0);
  return call;
}

Node* quantized_weight(TestProgram& t, std::vector<int64_t> sizes, int64_t axis) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  const auto channels = static_cast<size_t>(sizes.at(static_cast<size_t>(axis)));
  return t.quantized_parameter("w", std::move(sizes), std::vector<int8_t>(count, 1),
                               std::vector<float>(channels, 1), axis);
}

MakeNode convolution_of(MakeNode input, MakeNode weight, MakeNode bias = nullptr) {
  return [=](TestProgram& t) {
    Node* x = input(t);
    Node* w = weight(t);
    return convolution(t, x, w, bias ? bias(t) : nullptr);
  };
}

// Adds a convolution of int8 images that are padded with `value`.
MakeNode padded_convolution_of(Ints amounts, double value = 0.0, bool transposed = false) {
  return [=](TestProgram& t) {
    Node* input = t.fake_quantize(images(t), 0.1, 0);
    Node* padded = t.call("aten.constant_pad_nd.default", {input, amounts, value}, {1, 4, 8, 8});
    Node* weight = quantized_weight(t, {4, 4, 1, 1}, transposed ? 1 : 0);
    Node* call = convolution(t, padded, weight, nullptr, transposed);
    t.quantize(call, 0.1, 0);
    return call;
  };
}

// Adds an input that is a batch of sequences. The number and the length of the sequences are
// dynamic.
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

// Adds a transposed convolution with an output padding of 1 and a dilation of 2. Without the
// dilation, PyTorch would reject the output padding if the stride is 1.
Node* output_padded_convolution(TestProgram& t, int64_t stride) {
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
    {"BatchNormWithComputedMeans",
     [](TestProgram& t) { return batch_norm(t, images(t), t.input("m", {4})); }, "parameters"},
    {"BatchNormOf5Dims",
     [](TestProgram& t) {
       return batch_norm(t, t.input("x", {1, 4, 2, 2, 2}), t.parameter("m", {4}));
     },
     "5 dims"},
    {"BatchNormAfterConvolutionOf3Dims",
     [](TestProgram& t) {
       Node* call = convolution(t, t.input("x", {1, 4, 2, 2, 2}), t.parameter("v", {4, 4, 1, 1, 1}),
                                nullptr);
       call->meta.value = contiguous_spec(ScalarType::kFloat, {1, 4, 2, 2, 2});
       return batch_norm(t, call, t.parameter("m", {4}));
     },
     "5 dims"},
    {"BatchNormOfDynamicBatchesAndLengths",
     [](TestProgram& t) { return batch_norm(t, sequences(t), t.parameter("m", {4})); },
     "more than one of its sizes"},
    {"ConvolutionOfDynamicBatchesAndLengths",
     [](TestProgram& t) { return sequence_convolution(t, sequences(t)); },
     "more than one of its sizes"},
    {"BatchNormAfterConvolutionOfDynamicBatchesAndLengths",
     [](TestProgram& t) {
       return batch_norm(t, sequence_convolution(t, sequences(t)), t.parameter("m", {4}));
     },
     "more than one of its sizes"},
    {"ConvolutionOfDynamicBatches",
     [](TestProgram& t) {
       return sequence_convolution(t, t.dynamic_input("x", {1, 4, 8}, 3));
     },
     ""},
    {"OutputPaddingLessThanTheStride",
     [](TestProgram& t) { return output_padded_convolution(t, 2); }, ""},
    {"OutputPaddingEqualToTheStride",
     [](TestProgram& t) { return output_padded_convolution(t, 1); }, "output_padding"},
    {"Convolution",
     convolution_of(kImages, parameter_of("w", {4, 4, 1, 1}), parameter_of("b", {4})), ""},
    {"ConvolutionWithComputedWeight", convolution_of(kImages, input_of("w", {4, 4, 1, 1})),
     "its weight w is computed"},
    {"ConvolutionWithComputedBias",
     convolution_of(kImages, parameter_of("w", {4, 4, 1, 1}), input_of("b", {4})), "its bias"},
    {"ConvolutionOf3Dims",
     convolution_of(input_of("x", {1, 4, 2, 2, 2}), parameter_of("w", {4, 4, 1, 1, 1})),
     "1-d and 2-d"},
    {"QuantizedConvolution",
     [](TestProgram& t) { return quantized_convolution(t, 0, true, false); }, ""},
    {"QuantizedConvolutionWithFloatResult",
     [](TestProgram& t) { return quantized_convolution(t, 0, false, false); }, "the result is not"},
    {"QuantizedConvolutionWithZeroPoints",
     [](TestProgram& t) { return quantized_convolution(t, 3, true, false); }, "zero points"},
    {"QuantizedTransposedConvolutionWithAxis0",
     [](TestProgram& t) { return quantized_convolution(t, 0, true, true); }, "along dim 1"},
    {"ConvolutionWithOnlyTheWeightQuantized",
     [](TestProgram& t) {
       return convolution(
           t, images(t),
           t.dequantize(t.int8_parameter("w", {4, 4, 1, 1}, std::vector<int8_t>(16)), 0.1, 0),
           nullptr);
     },
     "the input is not"},
    {"QuantizedConvolutionPaddedWithZeros", padded_convolution_of({1, 1, 1, 1}), ""},
    {"QuantizedConvolutionPaddedWithOnes", padded_convolution_of({1, 1, 1, 1}, 1.0),
     "the input is not"},
    {"QuantizedConvolutionWithNegativePadding", padded_convolution_of({-1, 1}), "the input is not"},
    {"QuantizedConvolutionWithPaddedChannels", padded_convolution_of({0, 0, 0, 0, 1, 0}),
     "the input is not"},
    {"QuantizedTransposedConvolutionWithPadding", padded_convolution_of({1, 1, 1, 1}, 0.0, true),
     "the input is not"},
    {"QuantizedLinearWithPadding",
     [](TestProgram& t) {
       Node* x = t.fake_quantize(matrix(t), 0.1, 0);
       Node* padded =
           t.call("aten.constant_pad_nd.default", {x, std::vector<int64_t>{1, 0}, 0.0}, {2, 5});
       Node* call = t.call("aten.linear.default", {padded, quantized_weight(t, {3, 5}, 0)}, {2, 3});
       t.quantize(call, 0.1, 0);
       return call;
     },
     "the input is not"},
    {"DynamicLinearOf4Bits",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantized(matrix(t));
       Node& quantize = *x->args()[0].node();
       ArgumentList args = quantize.args();
       args[3] = -8;
       args[4] = 7;
       quantize.set_args(args);
       return t.call("aten.linear.default", {x, quantized_weight(t, {3, 4}, 0)}, {2, 3});
     },
     "its input: its quantized range is -8 to 7"},
    {"DynamicTransposedConvolution",
     [](TestProgram& t) {
       return convolution(t, t.dynamically_quantized(images(t)),
                          quantized_weight(t, {4, 4, 1, 1}, 1), nullptr, true);
     },
     ""},
    {"DynamicTransposedConvolutionOfOneChannel",
     [](TestProgram& t) {
       return convolution(t, t.dynamically_quantized(t.input("x", {1, 1, 8, 8})),
                          quantized_weight(t, {1, 4, 1, 1}, 1), nullptr, true);
     },
     "not depthwise"},
    {"Linear", call_of("aten.linear.default", {kMatrix, parameter_of("w", {3, 4})}, {2, 3}), ""},
    {"LinearWithComputedWeight",
     call_of("aten.linear.default", {kMatrix, input_of("w", {3, 4})}, {2, 3}), "its weight"},
    {"LinearWithOneBiasForThreeOutputs",
     call_of("aten.linear.default", {kMatrix, parameter_of("w", {3, 4}), parameter_of("b", {1})},
             {2, 3}),
     "one element per output"},
    {"LinearWithAScalarBias",
     call_of("aten.linear.default", {kMatrix, parameter_of("w", {3, 4}), parameter_of("b", {})},
             {2, 3}),
     "one element per output"},
    {"LinearWithOneBiasForOneOutput",
     call_of("aten.linear.default", {kMatrix, parameter_of("w", {1, 4}), parameter_of("b", {1})},
             {2, 1}),
     ""},
    {"LinearWithAVectorAsWeight",
     call_of("aten.linear.default", {kMatrix, parameter_of("w", {4})}, {2}), "not a matrix"},
    {"AddmmWithOneBiasForThreeOutputs",
     call_of("aten.addmm.default", {parameter_of("b", {1}), kMatrix, parameter_of("w", {4, 3})},
             {2, 3}),
     "one element per output"},
    {"DynamicLinearPerTensor",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantized(matrix(t));
       return t.call(
           "aten.linear.default",
           {x, t.dequantize(t.int8_parameter("w", {3, 4}, std::vector<int8_t>(12)), 0.1, 0)},
           {2, 3});
     },
     "per channel or block"},
    {"DynamicDepthwiseConvolution",
     [](TestProgram& t) {
       Node* x = t.dynamically_quantized(images(t));
       return convolution(t, x, quantized_weight(t, {4, 1, 1, 1}, 0), nullptr, false, 4);
     },
     "not depthwise"},
    {"Addmm",
     [](TestProgram& t) {
       Node* w = transposed_weight(t);
       return t.call("aten.addmm.default", {t.parameter("b", {3}), matrix(t), w}, {2, 3});
     },
     ""},
    {"MatmulWithTransposedWeight",
     mm_from("t_1;method_descriptor.t", "matmul_1;method_descriptor.matmul"),
     "transposes the weight"},
    {"DecomposedLinear",
     mm_from("linear_1;builtin_function_or_method.linear",
             "linear_1;builtin_function_or_method.linear"),
     ""},
    {"AddmmWithComputedWeight",
     call_of("aten.addmm.default", {parameter_of("b", {3}), kMatrix, input_of("w", {4, 3})},
             {2, 3}),
     "its weight"},
    {"AddmmWithAlpha",
     call_of("aten.addmm.default", {parameter_of("b", {3}), kMatrix, parameter_of("w", {4, 3})},
             {2, 3}, ScalarType::kFloat, {{"alpha", 2}}),
     "alpha or beta"},
};

INSTANTIATE_TEST_SUITE_P(ConvolutionAndLinear, Rules, testing::ValuesIn(kConvolutionAndLinearRules),
                         row_name);

TEST(RulesByPrecision, RejectPrecisionsThatAreNotEnabled) {
  TestProgram t;
  Node* linear = t.call("aten.linear.default", {matrix(t), t.parameter("w", {3, 4})}, {2, 3});
  EXPECT_EQ(reason_for_rejection(t, linear, xnnpack::kFloat), "");
  EXPECT_THAT(reason_for_rejection(t, linear, xnnpack::kDynamic), HasSubstr("this partitioner"));
}

// If a partitioner supports only f32, it delegates the linear call but not the dequantize calls of
// its inputs.
TEST(RulesByPrecision, DelegateQuantizedLinearCallsInF32) {
  TestProgram t;
  Node* x = t.fake_quantize(matrix(t), 0.1, 0);
  Node* w = quantized_weight(t, {3, 4}, 0);
  Node* linear = t.call("aten.linear.default", {x, w, t.parameter("b", {3})}, {2, 3});
  Node* relu = t.call("aten.relu.default", {linear}, {2, 3});
  Node* quantized = t.quantize(relu, 0.1, 0);
  t.output({quantized});
  Node* conv = quantized_convolution(t, 0, true, false);
  EXPECT_EQ(reason_for_rejection(t, linear, xnnpack::kFloat), "");
  EXPECT_THAT(reason_for_rejection(t, linear, xnnpack::kDynamic), HasSubstr("this partitioner"));
  EXPECT_THAT(reason_for_rejection(t, conv, xnnpack::kFloat), HasSubstr("this partitioner"));
  XnnpackPartitioner({.precisions = xnnpack::kFloat}).partition(t.program);
  const std::string& tag = linear->meta.delegation_tag;
  EXPECT_FALSE(tag.empty());
  EXPECT_EQ(relu->meta.delegation_tag, tag);
  for (const Node* outside : {x, w, quantized}) EXPECT_EQ(outside->meta.delegation_tag, "");
}

// XNNPACK rejects a clamp whose lower bound exceeds its upper bound, so the call is not delegated.
TEST(XnnpackPartitioner, DoesNotFuseClampsWithReversedBounds) {
  TestProgram t;
  Node* linear = t.call("aten.linear.default", {matrix(t), t.parameter("w", {3, 4})}, {2, 3});
  Node* reversed = t.call("aten.hardtanh.default", {linear, 2.0, 1.0}, {2, 3});
  t.output({reversed});
  XnnpackPartitioner().partition(t.program);
  EXPECT_NE(linear->meta.delegation_tag, "");
  EXPECT_EQ(reversed->meta.delegation_tag, "");
}

// ExecuTorch calls this option force_non_static_weights_for_f32_linear.
TEST(XnnpackPartitioner, DelegatesMatrixProductsWithComputedWeightsIfEnabled) {
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
  XnnpackPartitioner({.allows_dynamic_weights = true}).partition(t.program);
  EXPECT_FALSE(linear->meta.delegation_tag.empty());
  EXPECT_TRUE(b->meta.delegation_tag.empty());
}

}  // namespace
}  // namespace vitrine::aot::test
