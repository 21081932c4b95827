// Functions of single elements, sums and scans, against their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "aot/graph/aot_error.h"
#include "test/aot/evaluation/lowered_call.h"

namespace vitrine::aot {
namespace {

const Values kPoints = {-30, -3, -1.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 1.5, 3, 5, 30};
const double kNan = std::nan("");

TEST(DecomposedValues, OfOneOperand) {
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
    // sin(pi x) of large x is only as exact as pi x.
    expect_near(lowered(each.target, {floats({count}, kPoints)}, ArgumentList{}, {count}), expected,
                4e-6);
  }
}

TEST(DecomposedValues, OfTwoOperands) {
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
    // A minus that a value which is no number has is not looked at.
    for (size_t i = 0; i < left.size(); ++i) {
      if (std::isnan(right[i]) && std::string(each.target).find("copysign") != std::string::npos) {
        expected[i] = values_of(found)[i];
      }
    }
    expect_near(found, expected);
  }
}

TEST(DecomposedValues, NumbersInATensorsPlace) {
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

TEST(DecomposedValues, Questions) {
  const TensorData x = floats({5}, {-kInfinity, -1, 0, kNan, kInfinity});
  const auto asked = [&](const char* target) {
    return lowered(target, {x}, ArgumentList{}, {5}, {}, ScalarType::kBool);
  };
  expect_near(asked("aten.isneginf.default"), {1, 0, 0, 0, 0});
  expect_near(asked("aten.isposinf.default"), {0, 0, 0, 0, 1});
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

TEST(DecomposedValues, Scans) {
  const Values numbers = {2, -1, 3, 0.5, -2, 4, 1};
  const TensorData x = floats({7}, numbers);
  Values products;
  Values logs;
  double product = 1;
  double sum = 0;
  for (const double number : numbers) {
    products.push_back(product *= number);
    logs.push_back(std::log(sum += std::exp(number)));
  }
  expect_near(run({x}, one("aten.cumprod.default", {0}))[0], products);
  expect_near(run({x}, one("aten.logcumsumexp.default", {0}))[0], logs);
  // Along an inner dim.
  expect_near(run({floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 1, 1, 2, 2, 3, 3})},
                  one("aten.cumprod.default", {1}))[0],
              {1, 2, 3, 8, 15, 48, 1, 1, 2, 2, 6, 6});
  const Value::Items both = {contiguous_spec(ScalarType::kFloat, {6}),
                             contiguous_spec(ScalarType::kLong, {6})};
  const TensorData ties = floats({6}, {1, 3, 2, 3, kNan, 9});
  const auto along = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 0}; };
  expect_near(lowered_item("aten.cummax.default", {ties}, along, both, 0),
              {1, 3, 3, 3, kNan, kNan});
  expect_near(lowered_item("aten.cummax.default", {ties}, along, both, 1), {0, 1, 1, 3, 4, 4});
  expect_near(
      lowered_item("aten.cummin.default", {floats({6}, {4, 5, 3, 3, 7, 1})}, along, both, 1),
      {0, 0, 2, 3, 3, 5});
}

TEST(DecomposedValues, DifferencesAndAreas) {
  const TensorData x = floats({2, 4}, {1, 4, 9, 16, 0, 1, 0, 1});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{}, {2, 3}), {3, 5, 7, 1, -1, 1});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{2, 1}, {2, 2}), {2, 2, -2, 2});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{1, 0}, {1, 4}), {-1, -3, -9, -15});
  // Nothing is put before or behind what is not subtracted.
  expect_near(lowered("aten.diff.default", {x},
                      [](const std::vector<Node*>& in) {
                        return ArgumentList{in[0], 0, -1, in[0]};
                      },
                      {2, 4}),
              values_of(x));
  expect_near(lowered("aten.cumulative_trapezoid.dx", {x}, ArgumentList{}, {2, 3}, {{"dx", 2.0}}),
              {5, 18, 43, 1, 2, 3});
  expect_near(lowered("aten.cumulative_trapezoid.x", {x, floats({4}, {0, 1, 3, 4})}, ArgumentList{},
                      {2, 3}),
              {2.5, 15.5, 28, 0.5, 1.5, 2});
  expect_near(lowered("aten.trapezoid.dx", {x}, ArgumentList{}, {2}, {{"dx", 0.5}}),
              {0.5 * (0.5 + 4 + 9 + 8), 0.5 * 1.5});
  expect_near(lowered("aten.trapezoid.x", {x, floats({4}, {0, 1, 3, 4})}, ArgumentList{}, {2}),
              {2.5 + 13 + 12.5, 0.5 + 1 + 0.5});
}

TEST(DecomposedValues, SumsAndRanks) {
  const TensorData x = floats({2, 3}, {1, kNan, 3, 0, 5, kNan});
  const std::vector<int64_t> rows = {1};
  expect_near(lowered("aten.nansum.default", {x}, ArgumentList{rows}, {2}), {4, 5});
  expect_near(lowered("aten.nanmean.default", {x}, ArgumentList{rows}, {2}), {2, 2.5});
  expect_near(lowered("aten.count_nonzero.dim_IntList", {x}, ArgumentList{rows}, {2}, {},
                      ScalarType::kLong),
              {3, 2});
  const Value::Items both = {contiguous_spec(ScalarType::kFloat, {2}),
                             contiguous_spec(ScalarType::kLong, {2})};
  const TensorData y = floats({2, 4}, {4, 1, 3, 2, 8, 7, kNan, 5});
  const auto along = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 1}; };
  expect_near(lowered_item("aten.median.dim", {y}, along, both, 0), {2, kNan});
  expect_near(lowered("aten.median.default", {floats({5}, {4, 1, 9, 2, 8})}, ArgumentList{}, {}),
              {4});
  const auto third = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 3}; };
  expect_near(lowered_item("aten.kthvalue.default", {y}, third, both, 0), {3, 8});
  expect_near(lowered_item("aten.kthvalue.default", {y}, third, both, 1), {2, 0});
  // A number is a row of one.
  const Value::Items numbers = {contiguous_spec(ScalarType::kFloat, {}),
                                contiguous_spec(ScalarType::kLong, {})};
  const auto first = [](const std::vector<Node*>& in) { return ArgumentList{in[0], 1, 0}; };
  expect_near(lowered_item("aten.kthvalue.default", {floats({}, {7})}, first, numbers, 0), {7});
  expect_near(lowered_item("aten.kthvalue.default", {floats({}, {7})}, first, numbers, 1), {0});
}

// At q (n - 1) of the sorted row: [1, 2, 4, 8] and one that holds no number.
TEST(DecomposedValues, Quantiles) {
  const TensorData x = floats({2, 4}, {4, 1, 8, 2, 8, 7, kNan, 5});
  const auto of_rows = [&](Argument q, const char* way) {
    return lowered("aten.quantile.scalar", {x}, ArgumentList{std::move(q), 1}, {2},
                   {{"interpolation", way}});
  };
  expect_near(of_rows(0.5, "linear"), {3, kNan});
  expect_near(of_rows(0.75, "linear"), {5, kNan});
  expect_near(of_rows(0.75, "lower"), {4, kNan});
  expect_near(of_rows(0.75, "higher"), {8, kNan});
  expect_near(of_rows(0.75, "nearest"), {4, kNan});
  expect_near(of_rows(0.75, "midpoint"), {6, kNan});
  expect_near(of_rows(1.0, "midpoint"), {8, kNan});
  // Several at once come first; of all elements if no dim is given.
  const TensorData y = floats({2, 3}, {1, 5, 2, 4, 3, 0});
  const TensorData q = floats({2}, {0.0, 0.5});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{0, true}, {2, 1, 3}),
              {1, 3, 0, 2.5, 4, 1});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{}, {2}), {0, 2.5});
  expect_near(lowered("aten.quantile.default", {y, q}, ArgumentList{Argument(), true}, {2, 1, 1}),
              {0, 2.5});
  EXPECT_THROW(of_rows(0.5, "cubic"), AotError);
}

TEST(DecomposedValues, OfRealNumbersAsComplexOnes) {
  const TensorData x = floats({4}, {2, -2, 0, kNan});
  expect_near(lowered("aten.angle.default", {x}, ArgumentList{}, {4}),
              {0, std::numbers::pi, 0, kNan});
  expect_near(lowered("aten.conj_physical.default", {x}, ArgumentList{}, {4}), values_of(x));
}

}  // namespace
}  // namespace vitrine::aot
