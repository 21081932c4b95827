// Each rule: a call that passes, one that breaks the rule, and the reason given.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/xnnpack/aot/partitioner.h"
#include "backends/xnnpack/aot/rules.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string reason_against(TestProgram& t, Node* node,
                           uint8_t precisions = xnnpack::kAnyPrecision) {
  const xnnpack::Parameters parameters(t.program);
  const auto refusal = xnnpack::check({parameters, *node, precisions});
  return refusal ? refusal->rule : "";
}

using Make = Node* (*)(TestProgram& t);
struct Row {
  const char* name;
  Make make;
  const char* reason;  // part of it; empty: it passes
};

Node* images(TestProgram& t) { return t.input("x", {1, 4, 8, 8}); }
const std::vector<int64_t> kTwo = {2, 2};
const std::vector<int64_t> kOnes = {1, 1};
const std::vector<int64_t> kZeros = {0, 0};

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

Node* pool(TestProgram& t, ArgumentList rest) {
  ArgumentList args = {images(t), kTwo, kTwo, kZeros};
  args.insert(args.end(), rest.begin(), rest.end());
  return t.call("aten.avg_pool2d.default", args, {1, 4, 4, 4});
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
      weight, t.parameter("s", {channels}),
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

Node* max_dim(TestProgram& t, int64_t dim, bool keep, int64_t index) {
  Node* input = images(t);
  Node* node = t.call("aten.max.dim", {input, dim, keep}, {});
  const Value value = contiguous_spec(ScalarType::kFloat, {1, 4, 1, 8});
  node->meta.value = Value(Value::Items{value, value});
  Node* item = t.program.graph->call(getitem(), {node, index});
  item->meta.value = value;
  return node;
}

const Row kRows[] = {
    {"AddOfFloats",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor", {matrix(t), t.input("y", {4})}, {2, 4});
     },
     ""},
    {"AddWithAlpha",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor", {matrix(t), t.input("y", {4})}, {2, 4}, ScalarType::kFloat,
                     {{"alpha", 2}});
     },
     "alpha"},
    {"AddOfIntegers",
     [](TestProgram& t) {
       return t.call("aten.add.Tensor",
                     {t.input("x", {2}, ScalarType::kInt), t.input("y", {2}, ScalarType::kInt)},
                     {2}, ScalarType::kInt);
     },
     "is i32, not f32"},
    {"MixedDtypes",
     [](TestProgram& t) {
       return t.call("aten.mul.Tensor", {t.input("x", {2}), t.input("y", {2}, ScalarType::kHalf)},
                     {2});
     },
     "different dtypes"},
    {"EmptyTensor",
     [](TestProgram& t) {
       return t.call("aten.abs.default", {t.input("x", {0, 2})}, {0, 2});
     },
     "is empty"},
    {"SevenDims",
     [](TestProgram& t) {
       return t.call("aten.abs.default", {t.input("x", {1, 1, 1, 1, 1, 1, 2})},
                     {1, 1, 1, 1, 1, 1, 2});
     },
     "more than 6 dims"},
    {"UnknownOperator",
     [](TestProgram& t) {
       return t.call("aten.tan.default", {matrix(t)}, {2, 4});
     },
     "does not support aten.tan.default"},
    {"Gelu",
     [](TestProgram& t) {
       return t.call("aten.gelu.default", {matrix(t)}, {2, 4});
     },
     ""},
    {"GeluOfHalves",
     [](TestProgram& t) {
       return t.call("aten.gelu.default", {t.input("x", {2}, ScalarType::kHalf)}, {2},
                     ScalarType::kHalf);
     },
     "f32 only"},
    {"Square",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 2}, {2, 4});
     },
     ""},
    {"Cube",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 3}, {2, 4});
     },
     "exponent"},
    {"SquareByFloat",
     [](TestProgram& t) {
       return t.call("aten.pow.Tensor_Scalar", {matrix(t), 2.0}, {2, 4});
     },
     "exponent"},
    {"SoftmaxOverLast",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 1, false}, {2, 4});
     },
     ""},
    {"SoftmaxOverFirst",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 0, false}, {2, 4});
     },
     "last dim"},
    {"SoftmaxOverNone",
     [](TestProgram& t) {
       return t.call("aten._softmax.default", {matrix(t), 5, false}, {2, 4});
     },
     "dim 5"},
    {"Prelu",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {images(t), t.parameter("w", {4})}, {1, 4, 8, 8});
     },
     ""},
    {"PreluOfInput",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {images(t), t.input("w", {4})}, {1, 4, 8, 8});
     },
     "slopes"},
    {"PreluOfThreeDims",
     [](TestProgram& t) {
       return t.call("aten.prelu.default", {t.input("x", {2, 4, 3}), t.parameter("w", {4})},
                     {2, 4, 3});
     },
     "3 dims"},
    {"AveragePool",
     [](TestProgram& t) {
       return pool(t, {false, false});
     },
     ""},
    {"AveragePoolByArea",
     [](TestProgram& t) {
       return pool(t, {false, false, 4});
     },
     ""},
    {"AveragePoolCountsPadding", [](TestProgram& t) { return pool(t, {}); },
     "counts padded elements"},
    {"AveragePoolRoundsUp",
     [](TestProgram& t) {
       return pool(t, {true, false});
     },
     "ceil_mode"},
    {"AveragePoolDivides",
     [](TestProgram& t) {
       return pool(t, {false, false, 3});
     },
     "the divisor is not the size of the window"},
    {"MaxPool",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kTwo, kTwo}, {1, 4, 4, 4});
     },
     ""},
    {"MaxPoolSkips",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kTwo, std::vector<int64_t>{3, 3}},
                     {1, 4, 3, 3});
     },
     "stride is larger"},
    {"MaxPoolOfOne",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default", {images(t), kOnes, kOnes}, {1, 4, 8, 8});
     },
     "one element"},
    {"MaxPoolDilated",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default",
                     {images(t), std::vector<int64_t>{3, 3}, kOnes, kOnes, kTwo}, {1, 4, 6, 6});
     },
     ""},
    {"MaxPoolDilatedPastItsInput",
     [](TestProgram& t) {
       // The last row begins at 7 - 1, and the value in place of its padding is at 8.
       return t.call("aten.max_pool2d.default",
                     {images(t), kTwo, kOnes, kOnes, std::vector<int64_t>{1, 2}}, {1, 4, 9, 8});
     },
     "outside its input"},
    {"MaxPoolRoundsUpUnknown",
     [](TestProgram& t) {
       return t.call("aten.max_pool2d.default",
                     {t.dynamic_input("x", {1, 4, 7, 7}, 3), kTwo, kTwo, kZeros, kOnes, true},
                     {-1, 4, 4, 4});
     },
     "ceil_mode"},
    {"MaxDim", [](TestProgram& t) { return max_dim(t, 2, true, 0); }, ""},
    {"MaxDimIndices", [](TestProgram& t) { return max_dim(t, 2, true, 1); }, "indices"},
    {"MaxDimOfChannels", [](TestProgram& t) { return max_dim(t, 1, true, 0); },
     "height or a width"},
    {"MaxDimDrops", [](TestProgram& t) { return max_dim(t, 2, false, 0); }, "fewer dims"},
    {"Mean",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{-1, -2}, true},
                     {1, 4, 1, 1});
     },
     ""},
    {"MeanOfOneDim",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{-1}, true}, {1, 4, 8, 1});
     },
     "heights and widths"},
    {"MeanDrops",
     [](TestProgram& t) {
       return t.call("aten.mean.dim", {images(t), std::vector<int64_t>{2, 3}}, {1, 4});
     },
     "fewer dims"},
    {"Upsample",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), false, std::vector<int64_t>{2, 2}}, {1, 4, 16, 16});
     },
     ""},
    {"UpsampleByAnotherScale",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), false, Argument::list({1.6, 1.6})}, {1, 4, 12, 12});
     },
     "not the ratio"},
    {"UpsampleCorners",
     [](TestProgram& t) {
       return t.call("aten.upsample_bilinear2d.vec",
                     {images(t), Argument(), true, Argument::list({1.6, 1.6})}, {1, 4, 12, 12});
     },
     ""},
    {"ClampOfNothing",
     [](TestProgram& t) {
       return t.call("aten.hardtanh.default", {images(t), 0.5, -0.5}, {1, 4, 8, 8});
     },
     "lower bound"},
    {"ResultOfAnotherDtype",
     [](TestProgram& t) {
       Node* call = t.call("aten.mul.Tensor", {images(t), t.input("y", {1})}, {1, 4, 8, 8});
       TensorSpec spec = *call->tensor();
       spec.dtype = ScalarType::kHalf;
       call->meta.value = spec;
       return call;
     },
     "converts"},
    {"UpsampleUnknown",
     [](TestProgram& t) {
       return t.call(
           "aten.upsample_bilinear2d.vec",
           {t.dynamic_input("x", {1, 4, 8, 8}, 3), Argument(), false, std::vector<int64_t>{2, 2}},
           {-1, 4, 16, 16});
     },
     "known only"},
    {"Cat",
     [](TestProgram& t) {
       return t.call("aten.cat.default", {Argument::list({matrix(t), t.input("y", {2, 4})})},
                     {4, 4});
     },
     ""},
    {"CatOfOne",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.cat.default", {Argument::list({x, x})}, {4, 4});
     },
     "fewer than two"},
    {"Pad",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default", {matrix(t), std::vector<int64_t>{1, 0}, 0.0},
                     {2, 5});
     },
     ""},
    {"PadNegative",
     [](TestProgram& t) {
       return t.call("aten.constant_pad_nd.default", {matrix(t), std::vector<int64_t>{-1, 0}, 0.0},
                     {2, 3});
     },
     "negative"},
    {"Slice",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 1, 3}, {2, 2});
     },
     ""},
    {"SliceSteps",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 0, 4, 2}, {2, 2});
     },
     "step"},
    {"SliceOfNothing",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {matrix(t), 1, 1, 1}, {2, 0});
     },
     "is empty"},
    {"SliceUnknown",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 0, 1, 3}, {-1, 4});
     },
     "known only"},
    {"SliceOfUnknown",
     [](TestProgram& t) {
       return t.call("aten.slice_copy.Tensor", {t.dynamic_input("x", {1, 4}, 5), 1, 1, 3}, {1, 2});
     },
     "known only"},
    {"View",
     [](TestProgram& t) {
       return t.call("aten.view_copy.default", {matrix(t), std::vector<int64_t>{-1}}, {8});
     },
     ""},
    {"ViewOfSymbols",
     [](TestProgram& t) {
       Node* x = matrix(t);
       return t.call("aten.view_copy.default", {x, Argument::list({t.input("n", {}), 4})}, {2, 4});
     },
     "known only"},
    {"Unsqueeze",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), -1}, {2, 4, 1});
     },
     ""},
    {"UnsqueezeFirst",
     [](TestProgram& t) {
       return t.call("aten.unsqueeze_copy.default", {matrix(t), 0}, {1, 2, 4});
     },
     "not the last"},
    {"Clone",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default", {images(t)}, {1, 4, 8, 8});
     },
     ""},
    {"CloneReorders",
     [](TestProgram& t) {
       return t.call("dim_order_ops._clone_dim_order.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     "order of dims"},
    {"ToOtherOrder",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default",
                     {t.input_in_order("x", {1, 4, 8, 8}, {0, 2, 3, 1})}, {1, 4, 8, 8});
     },
     ""},
    {"ToHalf",
     [](TestProgram& t) {
       return t.call("dim_order_ops._to_dim_order_copy.default", {matrix(t)}, {2, 4},
                     ScalarType::kHalf);
     },
     "converts f32 to f16"},
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
                                       t.parameter("s", {4}),
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
    {"QuantiseToBytes",
     [](TestProgram& t) {
       return t.call("quantized_decomposed.quantize_per_tensor.default",
                     {matrix(t), 0.1, 0, 0, 255, ScalarType::kByte}, {2, 4}, ScalarType::kByte);
     },
     "is u8"},
    {"MulByNumber",
     [](TestProgram& t) {
       return t.call("aten.mul.Tensor", {matrix(t), 2.0}, {2, 4});
     },
     "not a tensor"},
    {"QuantiseToInt8", [](TestProgram& t) { return t.quantise(matrix(t), 0.1, 0); }, ""},
};

class Rules : public testing::TestWithParam<Row> {};

TEST_P(Rules, Say) {
  TestProgram t;
  Node* node = GetParam().make(t);
  const std::string reason = reason_against(t, node);
  if (*GetParam().reason == '\0') {
    EXPECT_THAT(reason, IsEmpty());
  } else {
    EXPECT_THAT(reason, HasSubstr(GetParam().reason));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

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
