// Tests decompositions of mathematical operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "test/aot/optimize/lowered_call.h"
#include "test/aot/passes/pointwise.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeMath, ElementWiseOperatorsMatchTheirFormulas) {
  const std::vector<PointwiseFormula> formulas = {
      {"aten.square.default", {}, [](double x) { return x * x; }},
      {"aten.erfc.default", {}, [](double x) { return std::erfc(x); }},
      {"aten.frac.default", {}, [](double x) { return x - std::trunc(x); }},
      {"aten.exp2.default", {}, [](double x) { return std::exp2(x); }},
      {"aten.clamp_min.default", {0.25}, [](double x) { return std::max(x, 0.25); }},
      {"aten.clamp_max.default", {0.25}, [](double x) { return std::min(x, 0.25); }},
      {"aten.rsub.Scalar", {2.0, 3.0}, [](double x) { return 2 - 3 * x; }},
      {"aten.isfinite.default", {}, [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }},
  };
  expect_formulas(formulas);
}

TEST(DecomposeMath, UnaryFunctionsMatchTheirFormulas) {
  struct Formula {
    const char* target;
    std::function<double(double)> formula;
  };
  const double pi = std::numbers::pi;
  const std::vector<Formula> formulas = {
      {"aten.sinc.default", [&](double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); }},
      {"aten.special_entr.default",
       [](double x) { return x > 0    ? -x * std::log(x)
                             : x == 0 ? 0
                                      : -kInfinity; }},
      {"aten.special_ndtr.default",
       [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }},
      {"aten.deg2rad.default", [&](double x) { return x * pi / 180; }},
      {"aten.rad2deg.default", [&](double x) { return x * 180 / pi; }},
      {"aten.special_expit.default", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"aten.arcsinh.default", [](double x) { return std::asinh(x); }},
      {"aten.fix.default", [](double x) { return std::trunc(x); }},
      {"aten.sgn.default", [](double x) { return x > 0   ? 1.0
                                                 : x < 0 ? -1.0
                                                         : 0.0; }},
      {"aten.positive.default", [](double x) { return x; }},
  };
  const auto count = static_cast<int64_t>(kPoints.size());
  for (const Formula& each : formulas) {
    SCOPED_TRACE(each.target);
    Values expected;
    for (const double x : kPoints) expected.push_back(each.formula(x));
    // For large x, sin(pi x) is inexact, because the product pi x is rounded.
    expect_near(lowered(each.target, {floats({count}, kPoints)}, {}, {count}), expected, 4e-6);
  }
}

TEST(DecomposeMath, BinaryFunctionsMatchTheirFormulas) {
  struct Formula {
    const char* target;
    std::function<double(double, double)> formula;
  };
  const std::vector<Formula> formulas = {
      {"aten.logaddexp.default",
       [](double a, double b) {
         if (a == b && std::isinf(a)) return a;
         return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
       }},
      {"aten.logaddexp2.default",
       [](double a, double b) {
         if (a == b && std::isinf(a)) return a;
         return std::max(a, b) + std::log2(1 + std::exp2(-std::abs(a - b)));
       }},
      {"aten.xlogy.Tensor",
       [](double a, double b) { return std::isnan(b) ? b
                                       : a == 0      ? 0
                                                     : a * std::log(b); }},
      {"aten.special_xlog1py.default",
       [](double a, double b) { return std::isnan(b) ? b
                                       : a == 0      ? 0
                                                     : a * std::log1p(b); }},
      {"aten.sigmoid_backward.default",
       [](double gradient, double y) { return gradient * (1 - y) * y; }},
      {"aten.hypot.default", [](double a, double b) { return std::hypot(a, b); }},
      {"aten.fmax.default", [](double a, double b) { return std::fmax(a, b); }},
      {"aten.fmin.default", [](double a, double b) { return std::fmin(a, b); }},
      {"aten.copysign.Tensor", [](double a, double b) { return std::copysign(a, b); }},
      {"aten.heaviside.default", [](double a, double b) { return a == 0  ? b
                                                                 : a > 0 ? 1.0
                                                                         : 0.0; }},
      {"aten.clamp_min.Tensor",
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b); }},
      {"aten.clamp_max.Tensor",
       [](double a, double b) { return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b); }},
      {"aten.ldexp.Tensor", [](double a, double b) { return a * std::exp2(b); }},
  };
  const Values points = {-kInfinity, -2, -0.5, 0, 0.5, 3, kInfinity, kNan};
  Values left;
  Values right;
  for (const double a : points) {
    for (const double b : points) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  const auto count = static_cast<int64_t>(left.size());
  for (const Formula& each : formulas) {
    SCOPED_TRACE(each.target);
    Values expected;
    for (size_t i = 0; i < left.size(); ++i) expected.push_back(each.formula(left[i], right[i]));
    const TensorData found =
        lowered(each.target, {floats({count}, left), floats({count}, right)}, {}, {count});
    // The sign of NaN is undefined. If the second operand of copysign is NaN, the result is
    // therefore not checked.
    for (size_t i = 0; i < left.size(); ++i) {
      if (std::isnan(right[i]) && std::string(each.target).find("copysign") != std::string::npos) {
        expected[i] = values_of(found)[i];
      }
    }
    expect_near(found, expected);
  }
}

TEST(DecomposeMath, ComplexFunctionsAcceptRealInputs) {
  const TensorData x = floats({4}, {2, -2, 0, kNan});
  expect_call("aten.angle.default", {x}, {}, {4}, {0, std::numbers::pi, 0, kNan});
  expect_call("aten.conj_physical.default", {x}, {}, {4}, values_of(x));
}

TEST(DecomposeValues, FindsAndReplacesNonFiniteValues) {
  const std::vector<TensorData> x = {floats({5}, {1, kInfinity, -kInfinity, std::nan(""), -2})};
  expect_one("aten.isfinite.default", x, {}, {1, 0, 0, 0, 1});
  expect_one("aten.nan_to_num.default", x, {3.0, 4.0, 5.0}, {1, 4, 5, 3, -2});
}

TEST(DecomposeValues, AddcmulAndAddcdivScaleBeforeAdding) {
  const std::vector<TensorData> inputs = {floats({2}, {1, 2}), floats({2}, {3, 4}),
                                          floats({2}, {5, 8})};
  expect_one("aten.addcmul.default", inputs, {}, {8.5, 18}, {{"value", 0.5}});
  expect_one("aten.addcdiv.default", inputs, {}, {2.2, 3}, {{"value", 2}});
  expect_one("aten.lerp.Scalar", {inputs[0], inputs[1]}, {0.25}, {1.5, 2.5});
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
  expect_call("aten.xlogy.Scalar_Self", x, {2.0, "$"}, {3}, {-kInfinity, 0, 2 * std::log(2)});
  expect_call("aten.xlogy.Scalar_Other", x, {3.0}, {3}, {0, std::log(3), 2 * std::log(3)});
  expect_call("aten.remainder.Scalar_Tensor", {floats({3}, {2, 3, -4})}, {5, "$"}, {3}, {1, 2, -3});
  expect_call("aten.float_power.Tensor_Scalar", x, {3}, {3}, {0, 1, 8}, {}, ScalarType::kDouble);
  expect_call("aten.round.decimals", {floats({3}, {1.234, -5.678, 14.5})}, {}, {3},
              {1.2, -5.7, 14.5}, {{"decimals", 1}});
  expect_call("aten.round.decimals", {floats({2}, {1234, -5678})}, {}, {2}, {1200, -5700},
              {{"decimals", -2}});
  expect_call("aten.bitwise_or.Scalar_Tensor", {integers({3}, {1, 4, 8})}, {5, "$"}, {3},
              {5, 5, 13}, {}, ScalarType::kLong);
}

TEST(DecomposeValues, PredicatesMatchTheirDefinitions) {
  const TensorData x = floats({5}, {-kInfinity, -1, 0, kNan, kInfinity});
  expect_call("aten.isneginf.default", {x}, {}, {5}, {1, 0, 0, 0, 0}, {}, ScalarType::kBool);
  expect_call("aten.isposinf.default", {x}, {}, {5}, {0, 0, 0, 0, 1}, {}, ScalarType::kBool);
  expect_call("aten.signbit.default", {floats({4}, {-0.0, 0.0, -2, 2})}, {}, {4}, {1, 0, 1, 0}, {},
              ScalarType::kBool);
  const TensorData y = floats({5}, {-kInfinity, -1.000001, 1, kNan, 5});
  expect_call("aten.isclose.default", {x, y}, {1e-5, 1e-8, true}, {5}, {1, 1, 0, 1, 0}, {},
              ScalarType::kBool);
  expect_call("aten.isclose.default", {x, y}, {}, {5}, {1, 1, 0, 0, 0}, {}, ScalarType::kBool);
}

// ATen truncates the factor to an integer, so a factor of 0.5 adds nothing.
TEST(DecomposeValues, AddcmulOfIntegersTruncatesTheScaleFactor) {
  const TensorData x = integers({2}, {3, 4});
  const auto sum = [&](double factor) {
    const TensorData found =
        lowered("aten.addcmul.default", {x, x, x}, {}, {2}, {{"value", factor}}, ScalarType::kLong);
    EXPECT_EQ(found.dtype, ScalarType::kLong);
    return values_of(found);
  };
  EXPECT_EQ(sum(2.5), (Values{3 + 2 * 9, 4 + 2 * 16}));
  EXPECT_EQ(sum(0.5), (Values{3, 4}));
}

}  // namespace
}  // namespace vitrine::aot
