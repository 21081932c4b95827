#include "backends/xnnpack/aot/products.h"

#include <gtest/gtest.h>

#include "test/backends/xnnpack/aot/sample_calls.h"
#include "test/backends/xnnpack/aot/test_program.h"

namespace vitrine::aot::test {
namespace {

using xnnpack::product_of;

TEST(Products, KnowTheirOperands) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.parameter("w", {4, 3});
  Node* b = t.parameter("b", {4});
  Node* turned = t.call("aten.permute_copy.default", {w, Ints{1, 0}}, {3, 4});
  Node* addmm = t.call("aten.addmm.default", {b, x, turned}, {2, 4});
  const auto product = product_of(*addmm);
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->activation, x);
  EXPECT_EQ(product->weight, turned);
  EXPECT_EQ(product->bias, b);
  EXPECT_EQ(product->transposition, turned);
  EXPECT_EQ(product->weight_source(), w);
  EXPECT_EQ(product->weight_dequantise(), nullptr);
  EXPECT_EQ(product->precision, xnnpack::kFloat);
  EXPECT_FALSE(product_of(*turned).has_value());
  EXPECT_FALSE(product_of(*x).has_value());
}

TEST(Products, ArePreciseAsTheirOperands) {
  TestProgram t;
  Node* x = t.input("x", {2, 3});
  Node* w = t.int8_parameter("w", {1, 3}, {1, 2, 3});
  Node* weight = t.dequantise(w, 0.5, 0);
  Node* fixed = t.dequantise(t.quantise(x, 0.25, 0), 0.25, 0);
  Node* chosen = t.dynamically_quantised(x);
  const auto of = [&](Node* input, Node* other) {
    return product_of(*t.call("aten.linear.default", {input, other}, {2, 1}));
  };
  EXPECT_EQ(of(fixed, weight)->precision, xnnpack::kStatic);
  EXPECT_EQ(of(fixed, weight)->dequantised, fixed);
  EXPECT_EQ(of(fixed, weight)->weight_dequantise(), weight);
  EXPECT_EQ(of(fixed, weight)->weight_source(), w);
  EXPECT_EQ(of(chosen, weight)->precision, xnnpack::kDynamic);
  EXPECT_EQ(of(fixed, t.parameter("f", {1, 3}))->precision, xnnpack::kFloat);
}

// Zeros around the images of an int8 convolution, and nothing else.
TEST(Products, TakeUpPaddings) {
  const auto padding_of = [](const Ints& amounts, double value) {
    TestProgram t;
    Node* x = t.dequantise(t.quantise(t.input("x", {1, 2, 4, 4}), 0.25, 0), 0.25, 0);
    Node* pad = t.call("aten.constant_pad_nd.default", {x, amounts, value}, {1, 2, 6, 6});
    Node* w = t.dequantise(t.int8_parameter("w", {1, 2, 1, 1}, {1, 2}), 0.5, 0);
    Node* call = convolution(t, pad, w, nullptr, {1, 1, 6, 6});
    const auto product = product_of(*call);
    EXPECT_TRUE(product->padding == nullptr || product->padding == pad);
    return product->padding != nullptr;
  };
  EXPECT_TRUE(padding_of({1, 1, 1, 1}, 0));
  EXPECT_FALSE(padding_of({1, 1, 1, 1}, 1)) << "not zero";
  EXPECT_FALSE(padding_of({1, 1, 1, 1, 1, 0}, 0)) << "channels";
  EXPECT_FALSE(padding_of({-1, 1, 1, 1}, 0)) << "cuts off";
}

TEST(Products, TakeUpBatchNormsOfTheirOwn) {
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

// The channels of a batch norm are dim 1, those of a linear call the last.
TEST(Products, OfMoreThanTwoDimsTakeUpNoBatchNorm) {
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
