#include "backends/xnnpack/aot/products.h"

#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/sample_calls.h"

namespace vitrine::aot::test {
namespace {

using xnnpack::product_of;

TEST(Products, FindInputWeightAndBias) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.parameter("w", {4, 3});
  Node* b = t.parameter("b", {4});
  Node* transposed = t.call("aten.permute_copy.default", {w, Ints{1, 0}}, {3, 4});
  Node* addmm = t.call("aten.addmm.default", {b, x, transposed}, {2, 4});
  const auto product = product_of(*addmm);
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->activation, x);
  EXPECT_EQ(product->weight, transposed);
  EXPECT_EQ(product->bias, b);
  EXPECT_EQ(product->transposition, transposed);
  EXPECT_EQ(product->weight_source(), w);
  EXPECT_EQ(product->weight_dequantize(), nullptr);
  EXPECT_EQ(product->precision, xnnpack::kFloat);
  EXPECT_FALSE(product_of(*transposed).has_value());
  EXPECT_FALSE(product_of(*x).has_value());
}

TEST(Products, DerivePrecisionFromOperands) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.int8_parameter("w", {1, 3}, {1, 2, 3});
  Node* weight = t.dequantize(w, 0.5, 0);
  Node* fixed = t.fake_quantize(x, 0.25, 0);
  Node* chosen = t.dynamically_quantized(x);
  const auto of = [&](Node* input, Node* other) {
    return product_of(*t.call("aten.linear.default", {input, other}, {2, 1}));
  };
  EXPECT_EQ(of(fixed, weight)->precision, xnnpack::kStatic);
  EXPECT_EQ(of(fixed, weight)->dequantized, fixed);
  EXPECT_EQ(of(fixed, weight)->weight_dequantize(), weight);
  EXPECT_EQ(of(fixed, weight)->weight_source(), w);
  EXPECT_EQ(of(chosen, weight)->precision, xnnpack::kDynamic);
  EXPECT_EQ(of(fixed, t.parameter("f", {1, 3}))->precision, xnnpack::kFloat);
}

TEST(Products, AbsorbOnlyZeroPaddingOfHeightAndWidth) {
  const auto absorbs_padding = [](const Ints& amounts, double value) {
    TestProgram t;
    Node* x = t.fake_quantize(t.input("x", {1, 2, 4, 4}), 0.25, 0);
    Node* pad = t.call("aten.constant_pad_nd.default", {x, amounts, value}, {1, 2, 6, 6});
    Node* w = t.dequantize(t.int8_parameter("w", {1, 2, 1, 1}, {1, 2}), 0.5, 0);
    Node* call = convolution(t, pad, w, nullptr, {1, 1, 6, 6});
    const auto product = product_of(*call);
    EXPECT_TRUE(product->padding == nullptr || product->padding == pad);
    return product->padding != nullptr;
  };
  EXPECT_TRUE(absorbs_padding({1, 1, 1, 1}, 0));
  EXPECT_FALSE(absorbs_padding({1, 1, 1, 1}, 1)) << "the value is not zero";
  EXPECT_FALSE(absorbs_padding({1, 1, 1, 1, 1, 0}, 0)) << "pads the channels";
  EXPECT_FALSE(absorbs_padding({-1, 1, 1, 1}, 0)) << "crops the images";
}

TEST(Products, FoldBatchNormsIfTheWeightIsConstantAndTheResultIsUsedOnce) {
  const auto can_fold = [](bool is_parameter, bool is_used_twice) {
    TestProgram t;
    Node* x = t.input("x", {1, 3, 2, 2});
    Node* w = is_parameter ? t.parameter("w", {2, 3, 1, 1}) : t.input("w", {2, 3, 1, 1});
    Node* call = convolution(t, x, w, nullptr, {1, 2, 2, 2});
    Node* norm = batch_norm(t, call, {1, 2});
    t.output(is_used_twice ? std::vector{norm, call} : std::vector{norm});
    return xnnpack::can_fold_batch_norm(xnnpack::Parameters(t.program), *norm->args()[0].node());
  };
  EXPECT_TRUE(can_fold(true, false));
  EXPECT_FALSE(can_fold(true, true));
  EXPECT_FALSE(can_fold(false, false));
}

// A batch norm has its channels in dim 1, and a linear call has them in the last dim. These are the
// same dim only if the tensor has two dims.
TEST(Products, LinearCallsFoldBatchNormsOnlyWithTwoDims) {
  for (const Ints& sizes : {Ints{2, 3}, Ints{2, 2, 3}}) {
    TestProgram t;
    Node* x = t.input("x", sizes);
    Node* call = t.call("aten.linear.default", {x, t.parameter("w", {3, 3})}, sizes);
    Node* norm = batch_norm(t, call, {1, 2, 3});
    EXPECT_EQ(xnnpack::can_fold_batch_norm(xnnpack::Parameters(t.program), *norm->args()[0].node()),
              sizes.size() == 2);
  }
}

}  // namespace
}  // namespace vitrine::aot::test
