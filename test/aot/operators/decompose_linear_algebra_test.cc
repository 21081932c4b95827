#include <gtest/gtest.h>

#include <cmath>

#include "aot/graph/aot_error.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

TEST(DecomposeLinearAlgebra, ComputesCrossProducts) {
  const TensorData a = floats({2, 3}, {1, 2, 3, 1, 0, 0});
  const TensorData b = floats({2, 3}, {4, 5, 6, 0, 1, 0});
  const Values expected = {-3, 6, -3, 0, 0, 1};
  expect_near(lowered("aten.linalg_cross.default", {a, b}, ArgumentList{}, {2, 3}), expected);
  expect_near(lowered("aten.cross.default", {a, b}, ArgumentList{}, {2, 3}), expected);
}

TEST(DecomposeLinearAlgebra, ComputesNormsAndDistances) {
  const TensorData x = floats({2, 2}, {1, -2, -3, 4});
  const auto norm = [&](const char* target, ArgumentList rest, std::vector<SymInt> sizes) {
    return lowered(target, {x}, rest, std::move(sizes));
  };
  const double frobenius = std::sqrt(30.0);
  const Argument rows = std::vector<int64_t>{1};
  expect_near(norm("aten.linalg_norm.default", {}, {}), {frobenius});
  expect_near(norm("aten.linalg_norm.default", {kInfinity}, {}), {7});
  expect_near(norm("aten.linalg_norm.default", {1}, {}), {6});
  expect_near(norm("aten.linalg_norm.default", {-1}, {}), {4});
  expect_near(norm("aten.linalg_norm.default", {1, rows}, {2}), {3, 7});
  expect_near(norm("aten.linalg_norm.ord_str", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.str_ord", {"fro"}, {}), {frobenius});
  expect_near(norm("aten.linalg_matrix_norm.default",
                   {-kInfinity, std::vector<int64_t>{-2, -1}, true}, {1, 1}),
              {3});
  EXPECT_THROW(norm("aten.linalg_norm.default", {2}, {}), AotError);
  // cosine_similarity broadcasts its operands before it computes their norms.
  const double norm_of_1_2 = std::sqrt(5.0);
  expect_near(lowered("aten.cosine_similarity.default",
                      {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, ArgumentList{1}, {2}),
              {9 / norm_of_1_2 / (3 * std::sqrt(2.0)), 12 / norm_of_1_2 / (4 * std::sqrt(2.0))});
  const TensorData y = floats({2, 2}, {1, 2, 0, 0});
  expect_near(lowered("aten.dist.default", {x, y}, ArgumentList{1}, {}), {11});
  expect_near(lowered("aten.pairwise_distance.default", {x, y}, ArgumentList{2.0, 0.0}, {2}),
              {4, 5});
  // _weight_norm computes g v / |v|, with the norm of each row or of the entire tensor.
  expect_near(
      lowered("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 2}), floats({2, 1}, {10, 3})},
              ArgumentList{0}, {2, 2}),
      {6, 8, 0, 3});
  expect_near(lowered("aten._weight_norm.default", {floats({2, 2}, {3, 4, 0, 0}), floats({}, {10})},
                      ArgumentList{-1}, {2, 2}),
              {6, 8, 0, 0});
}

}  // namespace
}  // namespace vitrine::aot
