#include "aot/graph/symbolic.h"

#include <gtest/gtest.h>

#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {
namespace {

const RangeConstraints kRanges = {{"s0", {1, 8}}, {"s1", {2, 12}}, {"u0", {0, std::nullopt}}};

SymInt symbol(const char* name) { return SymInt(Expression::symbol(name)); }
SymInt function(const char* name, std::vector<Expression::Pointer> arguments) {
  return SymInt(Expression::function(name, std::move(arguments)));
}

TEST(Symbolic, HasBounds) {
  const SymInt s0 = symbol("s0");
  const SymInt s1 = symbol("s1");
  EXPECT_EQ(upper_bound(s0 * s1, kRanges), 96);
  EXPECT_EQ(upper_bound(s1 + SymInt(-1), kRanges), 11);
  const auto two = Expression::integer(2);
  EXPECT_EQ(upper_bound(function("FloorDiv", {s1.pointer(), two}), kRanges), 6);
  EXPECT_EQ(upper_bound(function("FloorDiv", {s1.pointer(), s0.pointer()}), kRanges), 12);
  EXPECT_EQ(upper_bound(function("Mod", {s1.pointer(), Expression::integer(5)}), kRanges), 4);
  EXPECT_EQ(upper_bound(function("Max", {s0.pointer(), s1.pointer()}), kRanges), 12);
  EXPECT_EQ(upper_bound(function("Min", {s0.pointer(), symbol("u0").pointer()}), kRanges), 8);
  EXPECT_EQ(upper_bound(function("Pow", {s0.pointer(), two}), kRanges), 64);
  EXPECT_EQ(upper_bound(symbol("u0"), kRanges), std::nullopt);
  EXPECT_EQ(upper_bound(function("IntTrueDiv", {s0.pointer(), two}), kRanges), std::nullopt);
  // -s0 + 10 is in [2, 9].
  const SymInt difference = function("Mul", {Expression::integer(-1), s0.pointer()}) + SymInt(10);
  EXPECT_EQ(bounds(difference.expression(), kRanges), (Range{2, 9}));
}

TEST(Symbolic, DoesNotOverflow) {
  const SymInt large = symbol("large");
  const RangeConstraints ranges = {{"large", {0, INT64_MAX}}};
  EXPECT_EQ(upper_bound(large * large, ranges), std::nullopt);
  EXPECT_EQ(upper_bound(large + SymInt(1), ranges), std::nullopt);
}

TEST(Symbolic, PrintsAsFormula) {
  const SymInt s0 = symbol("s0");
  EXPECT_EQ(to_text(s0 * symbol("s1")), "s0*s1");
  EXPECT_EQ(to_text(s0 * (s0 + SymInt(1))), "s0*(s0 + 1)");
  EXPECT_EQ(to_text(function("Max", {s0.pointer(), Expression::integer(3)})), "Max(s0, 3)");
}

TEST(Symbolic, FoldsNumbers) {
  EXPECT_EQ(SymInt(3) * SymInt(4), SymInt(12));
  EXPECT_EQ(SymInt(1) * symbol("s0"), symbol("s0"));
  EXPECT_TRUE((SymInt(3) + SymInt(4)).is_static());
}

TEST(TensorSpec, KnowsItsDimOrder) {
  const SymInt s0 = symbol("s0");
  TensorSpec spec = contiguous_spec(ScalarType::kFloat, {s0, 3, 4, 5});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2, 3}));
  spec.strides = dense_strides(spec.sizes, {0, 2, 3, 1});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 2, 3, 1}));
  spec = contiguous_spec(ScalarType::kFloat, {4, s0, 2});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2}));
  // Equal strides keep their order.
  spec = contiguous_spec(ScalarType::kFloat, {2, 1, 1});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(to_text(spec), "f32[2, 1, 1]");
}

TEST(Symbolic, ArithmeticIsOfFactors) {
  const SymInt s0(Expression::symbol("s0"));
  const SymInt s1(Expression::symbol("s1"));
  EXPECT_EQ(to_text(SymInt(6) * s0 * SymInt(2)), "12*s0");
  EXPECT_EQ(to_text(s1 * s0), "s0*s1");
  EXPECT_EQ(s0 * SymInt(0), SymInt(0));
  EXPECT_EQ(to_text(s0 * s1 * SymInt(4) / (s1 * SymInt(2))), "2*s0");
  EXPECT_EQ(s0 / s0, SymInt(1));
  EXPECT_EQ(to_text(s0 / SymInt(2)), "s0//2");
  EXPECT_EQ(s0 - s0, SymInt(0));
  EXPECT_EQ(SymInt(7) / SymInt(2), SymInt(3));
  EXPECT_TRUE(same(s0 * s1, s1 * s0));
  EXPECT_FALSE(same(s0, s1));
}

}  // namespace
}  // namespace vitrine::aot
