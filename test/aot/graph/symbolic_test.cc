#include "aot/graph/symbolic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "aot/graph/polynomial.h"
#include "aot/graph/tensor_spec.h"

namespace vitrine::aot {
namespace {

const RangeConstraints kRanges = {{"s0", {1, 8}}, {"s1", {2, 12}}, {"u0", {0, std::nullopt}}};

SymInt symbol(const char* name) { return SymInt(Expression::symbol(name)); }
SymInt function(const char* name, std::vector<Expression::Pointer> arguments) {
  return SymInt(Expression::function(name, std::move(arguments)));
}

TEST(Symbolic, ComputesBounds) {
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

TEST(Symbolic, OverflowingBoundsAreUnbounded) {
  const SymInt large = symbol("large");
  const RangeConstraints ranges = {{"large", {0, INT64_MAX}}};
  EXPECT_EQ(upper_bound(large * large, ranges), std::nullopt);
  EXPECT_EQ(upper_bound(large + SymInt(1), ranges), std::nullopt);
}

TEST(Symbolic, PrintsExpressions) {
  const SymInt s0 = symbol("s0");
  EXPECT_EQ(to_text(s0 * symbol("s1")), "s0*s1");
  EXPECT_EQ(to_text(s0 * (s0 + SymInt(1))), "s0*(s0 + 1)");
  EXPECT_EQ(to_text(function("Max", {s0.pointer(), Expression::integer(3)})), "Max(s0, 3)");
}

TEST(Symbolic, FoldsConstants) {
  EXPECT_EQ(SymInt(3) * SymInt(4), SymInt(12));
  EXPECT_EQ(SymInt(1) * symbol("s0"), symbol("s0"));
  EXPECT_TRUE((SymInt(3) + SymInt(4)).is_static());
}

TEST(TensorSpec, SortsDimOrderByStride) {
  const SymInt s0 = symbol("s0");
  TensorSpec spec = contiguous_spec(ScalarType::kFloat, {s0, 3, 4, 5});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2, 3}));
  spec.strides = dense_strides(spec.sizes, {0, 2, 3, 1});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 2, 3, 1}));
  spec = contiguous_spec(ScalarType::kFloat, {4, s0, 2});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2}));
  // Dims of equal stride keep their order.
  spec = contiguous_spec(ScalarType::kFloat, {2, 1, 1});
  EXPECT_EQ(dim_order_of(spec), (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(to_text(spec), "f32[2, 1, 1]");
}

TEST(Symbolic, SortsFactorsAndCancelsCommonFactors) {
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
  EXPECT_EQ(s0 * s1, s1 * s0);
  EXPECT_FALSE(s0 == s1);
}

SymInt parsed(const char* name, std::vector<SymInt> arguments) {
  std::vector<Expression::Pointer> pointers;
  for (const SymInt& each : arguments) pointers.push_back(each.as_expression());
  return function(name, std::move(pointers));
}

// Evaluates an expression. `values` maps the names of symbols to their values.
int64_t evaluated(const Expression& expression, const std::map<std::string, int64_t>& values) {
  if (expression.kind() == Expression::Kind::kInteger) return expression.integer_value();
  if (expression.kind() == Expression::Kind::kSymbol) return values.at(expression.name());
  std::vector<int64_t> arguments;
  for (const auto& each : expression.arguments()) arguments.push_back(evaluated(*each, values));
  int64_t result = arguments.front();
  const auto floored = [](int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  };
  for (size_t i = 1; i < arguments.size(); ++i) {
    const int64_t next = arguments[i];
    if (expression.name() == "Add") result += next;
    if (expression.name() == "Mul") result *= next;
    if (expression.name() == "Max") result = std::max(result, next);
    if (expression.name() == "Min") result = std::min(result, next);
    if (expression.name() == "FloorDiv") result = floored(result, next);
    if (expression.name() == "Mod") result -= next * floored(result, next);
  }
  return result;
}

TEST(Symbolic, EqualSizesHaveTheSameNormalForm) {
  const SymInt s0 = symbol("s0");
  const SymInt s1 = symbol("s1");
  const auto add = [](const SymInt& a, const SymInt& b) { return parsed("Add", {a, b}); };
  const auto mul = [](const SymInt& a, const SymInt& b) { return parsed("Mul", {a, b}); };
  const auto div = [](const SymInt& a, const SymInt& b) { return parsed("FloorDiv", {a, b}); };
  const std::pair<SymInt, SymInt> equal[] = {
      {add(div(add(add(add(mul(8, s0), 16), 16), -32), 8), 1), add(s0, 1)},
      {mul(add(s0, 1), add(s1, 2)), add(add(mul(s0, s1), mul(2, s0)), add(s1, 2))},
      {div(mul(add(s0, 1), add(s1, 2)), add(s1, 2)), add(s0, 1)},
      {div(div(add(s0, 1), 2), 2), div(add(s0, 1), 4)},
      {div(add(div(add(s0, -1), 2), 1), 2), div(add(s0, 1), 4)},
      {div(add(mul(2, s0), 1), 4), div(s0, 2)},
      {div(add(mul(6, s0), 7), 4), add(add(s0, 1), div(add(mul(2, s0), 3), 4))},
      {div(mul(mul(3, s0), s1), mul(2, s0)), div(mul(3, s1), 2)},
      {parsed("Max", {add(s0, 2), parsed("Max", {s0, s1})}), parsed("Max", {s1, add(s0, 2)})},
      {parsed("Min", {add(s0, 2), s0}), s0},
      {parsed("Mod", {add(mul(8, s0), 19), 8}), 3},
      {parsed("Pow", {add(s0, 1), 2}), add(mul(s0, s0), add(mul(2, s0), 1))},
      {add(s0, mul(-1, s0)), 0},
  };
  for (const auto& [a, b] : equal) EXPECT_EQ(a, b) << to_text(a) << " and " << to_text(b);
  const std::pair<SymInt, SymInt> unequal[] = {
      {div(s0, 2), div(add(s0, 1), 2)},
      {div(mul(3, s0), 2), s0},
      {parsed("Max", {s0, s1}), s0},
      {mul(s0, s0), s0},
  };
  for (const auto& [a, b] : unequal) EXPECT_FALSE(a == b) << to_text(a) << " and " << to_text(b);
}

TEST(Symbolic, NormalFormEvaluatesToTheSameValueAsTheExpression) {
  uint32_t state = 1;
  const auto random = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % below;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<SymInt> sizes = {symbol("s0"), symbol("s1"), 1, 2, 3, 5, -4};
    std::vector<SymInt> simple = sizes;
    for (int i = 0; i < 6; ++i) {
      const size_t a = random(static_cast<uint32_t>(sizes.size()));
      const size_t b = random(static_cast<uint32_t>(sizes.size()));
      constexpr const char* kNames[] = {"Add", "Mul", "FloorDiv", "Mod", "Max", "Min", "Add"};
      const char* name = kNames[random(7)];
      const bool divides = name == kNames[2] || name == kNames[3];
      const size_t divisor = 3 + random(3);  // 2, 3 or 5
      sizes.push_back(parsed(name, {sizes[a], sizes[divides ? divisor : b]}));
      const bool is_operator = name == kNames[0] || name == kNames[1];
      simple.push_back(!is_operator        ? sizes.back()
                       : name == kNames[0] ? simple[a] + simple[b]
                                           : simple[a] * simple[b]);
    }
    const SymInt& size = sizes.back();
    const auto normal = Polynomial::of(size);
    for (int64_t x = 1; x < 9; x += 3) {
      const std::map<std::string, int64_t> values = {{"s0", x}, {"s1", 7 - x / 2}};
      const int64_t expected = evaluated(*size.as_expression(), values);
      EXPECT_EQ(evaluated(*simple.back().as_expression(), values), expected) << to_text(size);
      if (!normal) continue;
      EXPECT_EQ(evaluated(*normal->value().as_expression(), values), expected) << to_text(size);
    }
  }
}

TEST(Symbolic, MultipleOfAnExpressionExceedsTheExpression) {
  const SymInt s0 = symbol("s0");
  const SymInt s1 = symbol("s1");
  EXPECT_TRUE(exceeds(s0 * SymInt(6), s0 * SymInt(3)));
  EXPECT_TRUE(exceeds(s0 * (s1 + SymInt(1)) * SymInt(4), s1 + SymInt(1)));
  EXPECT_TRUE(exceeds(s0 * SymInt(3), 2));
  EXPECT_FALSE(exceeds(s0, s0));
  EXPECT_FALSE(exceeds(s0, s1));
  EXPECT_FALSE(exceeds(s0, 2));
  EXPECT_FALSE(exceeds(64, s0));
}

TEST(Symbolic, ComparesProductsThatAreTooLargeToExpand) {
  SymInt product = symbol("a0") + symbol("b0");
  for (int i = 1; i < 40; ++i) {
    product = product * (symbol(("a" + std::to_string(i)).c_str()) + SymInt(INT64_MAX));
  }
  EXPECT_EQ(product, product);
  EXPECT_FALSE(product == symbol("a0"));
}

}  // namespace
}  // namespace vitrine::aot
