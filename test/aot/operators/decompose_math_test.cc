#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

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
    expect_near(lowered(each.target, {floats({count}, kPoints)}, ArgumentList{}, {count}), expected,
                4e-6);
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
    const TensorData found = lowered(each.target, {floats({count}, left), floats({count}, right)},
                                     ArgumentList{}, {count});
    // The sign of NaN is undefined, so copysign from NaN may return any value.
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
  expect_near(lowered("aten.angle.default", {x}, ArgumentList{}, {4}),
              {0, std::numbers::pi, 0, kNan});
  expect_near(lowered("aten.conj_physical.default", {x}, ArgumentList{}, {4}), values_of(x));
}

}  // namespace
}  // namespace vitrine::aot
