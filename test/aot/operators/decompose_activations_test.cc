#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/aot/passes/pointwise.h"

namespace vitrine::aot {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

TEST(DecomposeActivations, ElementWiseActivationsMatchTheirFormulas) {
  expect_formulas({
      {"aten.selu.default",
       {},
       [](double x) {
         constexpr double kAlpha = 1.6732632423543772;
         constexpr double kScale = 1.0507009873554805;
         return kScale * (x > 0 ? x : kAlpha * std::expm1(x));
       }},
      {"aten.celu.default", {2.0}, [](double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
      {"aten.softplus.default",
       {2.0, 10},
       [](double x) { return std::log1p(std::exp(2 * x)) / 2; }},
      {"aten.log_sigmoid.default", {}, [](double x) { return -std::log1p(std::exp(-x)); }},
      {"aten.hardshrink.default", {0.5}, [](double x) { return std::abs(x) > 0.5 ? x : 0; }},
      {"aten.softshrink.default",
       {0.5},
       [](double x) { return x > 0.5    ? x - 0.5
                             : x < -0.5 ? x + 0.5
                                        : 0; }},
      {"aten.threshold.default", {0.5, -7.0}, [](double x) { return x > 0.5 ? x : -7; }},
      {"aten.relu6.default", {}, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {"aten.silu.default", {}, [](double x) { return x * sigmoid(x); }},
      {"aten.hardsigmoid.default", {}, [](double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {"aten.hardswish.default", {}, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {"aten.mish.default", {}, [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {"aten.logit.default",
       {0.25},
       [](double x) {
         const double p = std::clamp(x, 0.25, 0.75);
         return std::log(p / (1 - p));
       }},
  });
}

TEST(DecomposeActivations, GluMultipliesFirstHalfBySigmoidOfSecondHalf) {
  const TensorData x = floats({2, 4}, {1, 2, 3, 4, -5, 6, 0, -8});
  expect_near(lowered("aten.glu.default", {x}, ArgumentList{1}, {2, 2}),
              {sigmoid(3), 2 * sigmoid(4), -5 * sigmoid(0), 6 * sigmoid(-8)});
}

TEST(DecomposeActivations, PreluUsesSlopePerChannelAndRreluUsesMeanSlope) {
  const TensorData x = floats({1, 2, 2}, {-1, 2, -3, 4});
  expect_near(lowered("aten.prelu.default", {x, floats({2}, {0.5, -2})}, ArgumentList{}, {1, 2, 2}),
              {-0.5, 2, 6, 4});
  expect_near(lowered("aten.rrelu.default", {x}, ArgumentList{0.25, 0.75}, {1, 2, 2}),
              {-0.5, 2, -1.5, 4});
}

TEST(DecomposeActivations, SoftshrinkKeepsNan) {
  expect_near(run({floats({4}, {kNan, 0.25, 2, -kInfinity})}, one("aten.softshrink.default"))[0],
              {kNan, 0, 1.5, -kInfinity});
}

}  // namespace
}  // namespace vitrine::aot
