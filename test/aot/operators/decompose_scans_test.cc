#include <gtest/gtest.h>

#include <cmath>

#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeScans, ComputesCumulativeProductsLogSumExpsAndExtremes) {
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

TEST(DecomposeScans, ComputesDifferencesAndTrapezoidalIntegrals) {
  const TensorData x = floats({2, 4}, {1, 4, 9, 16, 0, 1, 0, 1});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{}, {2, 3}), {3, 5, 7, 1, -1, 1});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{2, 1}, {2, 2}), {2, 2, -2, 2});
  expect_near(lowered("aten.diff.default", {x}, ArgumentList{1, 0}, {1, 4}), {-1, -3, -9, -15});
  // A difference of order 0 ignores the tensor to prepend.
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

}  // namespace
}  // namespace vitrine::aot
