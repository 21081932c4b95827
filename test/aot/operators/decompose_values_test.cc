#include <gtest/gtest.h>

#include <cmath>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeValues, FindsAndReplacesNonFiniteValues) {
  const std::vector<TensorData> x = {floats({5}, {1, kInfinity, -kInfinity, std::nan(""), -2})};
  expect_near(run(x, one("aten.isfinite.default"))[0], {1, 0, 0, 0, 1});
  expect_near(run(x, one("aten.nan_to_num.default", {3.0, 4.0, 5.0}))[0], {1, 4, 5, 3, -2});
}

TEST(DecomposeValues, AddcmulAndAddcdivScaleBeforeAdding) {
  const std::vector<TensorData> inputs = {floats({2}, {1, 2}), floats({2}, {3, 4}),
                                          floats({2}, {5, 8})};
  expect_near(run(inputs, one("aten.addcmul.default", {}, {{"value", 0.5}}))[0], {8.5, 18});
  expect_near(run(inputs, one("aten.addcdiv.default", {}, {{"value", 2}}))[0], {2.2, 3});
  expect_near(run({inputs[0], inputs[1]}, one("aten.lerp.Scalar", {0.25}))[0], {1.5, 2.5});
  // The factor must be applied first, because the product of the tensors would overflow.
  const TensorData large = floats({1}, {1e30});
  expect_near(run({large, large, large}, one("aten.addcmul.default", {}, {{"value", 1e-30}}))[0],
              {2e30}, 1e-6);
}

TEST(DecomposeValues, LerpIsExactAtBothEnds) {
  const TensorData start = floats({2}, {1e8, 3});
  const TensorData end = floats({2}, {0.3, -7});
  for (const double weight : {0.0, 1.0}) {
    const Values expected = values_of(weight == 0 ? start : end);
    EXPECT_EQ(values_of(run({start, end}, one("aten.lerp.Scalar", {weight}))[0]), expected);
    EXPECT_EQ(values_of(run({start, end, floats({1}, {weight})}, one("aten.lerp.Tensor"))[0]),
              expected);
  }
}

TEST(DecomposeValues, ErfcIsPreciseWhereErfIsNearOne) {
  const Values points = {-3, 0, 1, 3, 5, 9};
  const Values found = values_of(run({floats({6}, points)}, one("aten.erfc.default"))[0]);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(found[i], std::erfc(points[i]), 1e-6 * std::erfc(points[i])) << points[i];
  }
}

TEST(DecomposeValues, AcceptsScalarsInsteadOfTensors) {
  const std::vector<TensorData> x = {floats({3}, {0, 1, 2})};
  const auto args = [](ArgumentList rest) {
    return [rest](const std::vector<Node*>& in) {
      ArgumentList all = rest;
      for (Argument& each : all) {
        if (each.is_none()) each = in[0];
      }
      return all;
    };
  };
  expect_near(lowered("aten.xlogy.Scalar_Self", x, args({2.0, Argument()}), {3}),
              {-kInfinity, 0, 2 * std::log(2)});
  expect_near(lowered("aten.xlogy.Scalar_Other", x, args({Argument(), 3.0}), {3}),
              {0, std::log(3), 2 * std::log(3)});
  expect_near(lowered("aten.remainder.Scalar_Tensor", {floats({3}, {2, 3, -4})},
                      args({5, Argument()}), {3}),
              {1, 2, -3});
  expect_near(lowered("aten.float_power.Tensor_Scalar", x, args({Argument(), 3}), {3}, {},
                      ScalarType::kDouble),
              {0, 1, 8});
  expect_near(lowered("aten.round.decimals", {floats({3}, {1.234, -5.678, 14.5})}, ArgumentList{},
                      {3}, {{"decimals", 1}}),
              {1.2, -5.7, 14.5});
  expect_near(lowered("aten.round.decimals", {floats({2}, {1234, -5678})}, ArgumentList{}, {2},
                      {{"decimals", -2}}),
              {1200, -5700});
  expect_near(lowered("aten.bitwise_or.Scalar_Tensor", {integers({3}, {1, 4, 8})},
                      args({5, Argument()}), {3}, {}, ScalarType::kLong),
              {5, 5, 13});
}

TEST(DecomposeValues, PredicatesMatchTheirDefinitions) {
  const TensorData x = floats({5}, {-kInfinity, -1, 0, kNan, kInfinity});
  const auto predicate = [&](const char* target) {
    return lowered(target, {x}, ArgumentList{}, {5}, {}, ScalarType::kBool);
  };
  expect_near(predicate("aten.isneginf.default"), {1, 0, 0, 0, 0});
  expect_near(predicate("aten.isposinf.default"), {0, 0, 0, 0, 1});
  expect_near(lowered("aten.signbit.default", {floats({4}, {-0.0, 0.0, -2, 2})}, ArgumentList{},
                      {4}, {}, ScalarType::kBool),
              {1, 0, 1, 0});
  const TensorData y = floats({5}, {-kInfinity, -1.000001, 1, kNan, 5});
  expect_near(lowered("aten.isclose.default", {x, y}, ArgumentList{1e-5, 1e-8, true}, {5}, {},
                      ScalarType::kBool),
              {1, 1, 0, 1, 0});
  expect_near(lowered("aten.isclose.default", {x, y}, ArgumentList{}, {5}, {}, ScalarType::kBool),
              {1, 1, 0, 0, 0});
}

// ATen truncates the factor to an integer, so a factor of 0.5 adds nothing.
TEST(DecomposeValues, AddcmulOfIntegersTruncatesTheScaleFactor) {
  const TensorData x = integers({2}, {3, 4});
  const auto sum = [&](double factor) {
    const TensorData found = lowered("aten.addcmul.default", {x, x, x}, ArgumentList(), {2},
                                     {{"value", factor}}, ScalarType::kLong);
    EXPECT_EQ(found.dtype, ScalarType::kLong);
    return values_of(found);
  };
  EXPECT_EQ(sum(2.5), (Values{3 + 2 * 9, 4 + 2 * 16}));
  EXPECT_EQ(sum(0.5), (Values{3, 4}));
}

}  // namespace
}  // namespace vitrine::aot
