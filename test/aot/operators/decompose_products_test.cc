#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "examples/models/seeded_weights.h"
#include "test/aot/optimize/lowered_call.h"

namespace vitrine::aot {
namespace {

// Returns softmax(q k^T / sqrt(width) + mask) v.
Values attention(const Values& q, const Values& k, const Values& v, size_t queries, size_t keys,
                 size_t width, const std::function<double(size_t, size_t)>& mask) {
  Values result;
  for (size_t i = 0; i < queries; ++i) {
    Values weights;
    double total = 0;
    for (size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (size_t c = 0; c < width; ++c) score += q[i * width + c] * k[j * width + c];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(width)) + mask(i, j)));
      total += weights.back();
    }
    for (size_t c = 0; c < width; ++c) {
      double sum = 0;
      for (size_t j = 0; j < keys; ++j) sum += weights[j] * v[j * width + c];
      result.push_back(total == 0 ? 0 : sum / total);
    }
  }
  return result;
}

TEST(DecomposeProducts, MatmulAcceptsOperandsOfEveryRank) {
  const auto product = [](std::vector<int64_t> a, std::vector<int64_t> b) {
    return run({seeded_weights("a", 1, std::move(a), 1), seeded_weights("b", 2, std::move(b), 1)},
               one("aten.matmul.default"))[0];
  };
  const Values a = values_of(seeded_weights("a", 1, {2 * 3 * 4}, 1));
  const Values b = values_of(seeded_weights("b", 2, {4 * 5 * 2}, 1));
  const auto dot = [&](size_t row, size_t column, size_t stride, size_t from = 0) {
    double sum = 0;
    for (size_t i = 0; i < 4; ++i) sum += a[row * 4 + i] * b[from + i * stride + column];
    return sum;
  };
  expect_near(product({4}, {4}), {dot(0, 0, 1)});
  expect_near(product({3, 4}, {4}), {dot(0, 0, 1), dot(1, 0, 1), dot(2, 0, 1)});
  expect_near(product({4}, {4, 5}),
              {dot(0, 0, 5), dot(0, 1, 5), dot(0, 2, 5), dot(0, 3, 5), dot(0, 4, 5)});
  Values folded;
  for (size_t row = 0; row < 6; ++row) folded.push_back(dot(row, 0, 1));
  expect_near(product({2, 3, 4}, {4}), folded);
  Values rows;
  for (size_t row = 0; row < 6; ++row) {
    for (size_t column = 0; column < 5; ++column) rows.push_back(dot(row, column, 5));
  }
  expect_near(product({2, 3, 4}, {4, 5}), rows);
  Values batches;
  for (size_t batch = 0; batch < 2; ++batch) {
    for (size_t row = 0; row < 3; ++row) {
      for (size_t column = 0; column < 5; ++column) {
        batches.push_back(dot(row, column, 5, batch * 20));
      }
    }
  }
  expect_near(product({3, 4}, {2, 4, 5}), batches);
  Values vectors;
  for (size_t batch = 0; batch < 2; ++batch) {
    for (size_t column = 0; column < 5; ++column) vectors.push_back(dot(0, column, 5, batch * 20));
  }
  expect_near(product({4}, {2, 4, 5}), vectors);
}

TEST(DecomposeProducts, AttentionAppliesMasksAndSharesKeyValueHeads) {
  const TensorData q = seeded_weights("q", 1, {1, 1, 3, 4}, 2);
  const TensorData k = seeded_weights("k", 1, {1, 1, 3, 4}, 2);
  const TensorData v = seeded_weights("v", 1, {1, 1, 3, 4}, 2);
  constexpr const char* kTarget = "aten.scaled_dot_product_attention.default";
  const auto expected = [&](const std::function<double(size_t, size_t)>& mask) {
    return attention(values_of(q), values_of(k), values_of(v), 3, 3, 4, mask);
  };
  expect_one(kTarget, {q, k, v}, {}, expected([](size_t, size_t) { return 0.0; }));
  expect_one(kTarget, {q, k, v}, {Argument(), 0.0, true},
             expected([](size_t i, size_t j) { return j > i ? -kInfinity : 0; }));
  const Values added = {0, 1, -1, 0.5, 0, -kInfinity, 2, 0, 0};
  expect_one(kTarget, {q, k, v, floats({3, 3}, added)}, {},
             expected([&](size_t i, size_t j) { return added[i * 3 + j]; }));
  // If the mask hides all keys from a query, the result of that query is 0, not NaN.
  const auto is_visible = [](size_t i, size_t j) { return i != 1 && j != 2; };
  std::vector<int> visible;
  for (size_t i = 0; i < 9; ++i) visible.push_back(is_visible(i / 3, i % 3) ? 1 : 0);
  expect_one(kTarget, {q, k, v, bools({3, 3}, visible)}, {},
             expected([&](size_t i, size_t j) { return is_visible(i, j) ? 0 : -kInfinity; }));
  // Two query heads share one head of keys and values.
  const TensorData heads = seeded_weights("q", 1, {1, 2, 3, 4}, 2);
  const Values both = attention(values_of(heads), values_of(k), values_of(v), 2 * 3, 3, 4,
                                [](size_t, size_t) { return 0.0; });
  expect_one(kTarget, {heads, k, v}, {}, both, {{"enable_gqa", true}});
}

TEST(DecomposeProducts, AddbmmAndAddrReturnATensorPlusAScaledProduct) {
  const TensorData self = floats({2, 2}, {1, 2, 3, 4});
  const TensorData a = floats({2, 2, 1}, {1, 2, 3, 4});
  const TensorData b = floats({2, 1, 2}, {5, 6, 7, 8});
  // The sum of the outer products is [1 2]' [5 6] + [3 4]' [7 8].
  const Values product = {26, 30, 38, 44};
  Values scaled;
  for (size_t i = 0; i < 4; ++i)
    scaled.push_back(0.5 * static_cast<double>(i + 1) + 2 * product[i]);
  expect_call("aten.addbmm.default", {self, a, b}, {}, {2, 2}, scaled,
              {{"beta", 0.5}, {"alpha", 2}});
  const TensorData u = floats({2}, {1, 2});
  const TensorData v = floats({2}, {3, 4});
  expect_call("aten.addr.default", {self, u, v}, {}, {2, 2}, {4, 6, 9, 12});
  // If beta is 0, the operand that beta multiplies is ignored, even if it contains NaN.
  const ArgumentMap none = {{"beta", 0}};
  const TensorData nothing = floats({}, {kNan});
  expect_call("aten.addr.default", {nothing, u, v}, {}, {2, 2}, {3, 4, 6, 8}, none);
  const TensorData square = floats({2, 2}, {1, 2, 3, 4});
  expect_call("aten.addmv.default", {nothing, square, u}, {}, {2}, {5, 11}, none);
  const TensorData matrix = floats({1, 2, 2}, {1, 2, 3, 4});
  expect_call("aten.baddbmm.default", {nothing, matrix, matrix}, {}, {1, 2, 2}, {7, 10, 15, 22},
              none);
  expect_call("aten.addmm.default", {nothing, square, square}, {}, {2, 2}, {7, 10, 15, 22}, none);
}

TEST(DecomposeProducts, ComputesTensorMatrixAndVectorProducts) {
  const TensorData a = seeded_weights("a", 1, {2, 3, 4}, 1);
  const TensorData b = seeded_weights("b", 2, {4, 5, 3}, 1);
  const Values x = values_of(a);
  const Values y = values_of(b);
  Values expected;
  for (size_t i = 0; i < 2; ++i) {
    for (size_t k = 0; k < 5; ++k) {
      double sum = 0;
      for (size_t j = 0; j < 3; ++j) {
        for (size_t l = 0; l < 4; ++l) sum += x[(i * 3 + j) * 4 + l] * y[(l * 5 + k) * 3 + j];
      }
      expected.push_back(sum);
    }
  }
  expect_call("aten.tensordot.default", {a, b}, {Dims{1, 2}, Dims{2, 0}}, {2, 5}, expected);
  Values inner;
  for (size_t i = 0; i < 6; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      double sum = 0;
      for (size_t l = 0; l < 4; ++l) sum += x[i * 4 + l] * y[k * 4 + l];
      inner.push_back(sum);
    }
  }
  const TensorData rows = floats({2, 4}, {y.begin(), y.begin() + 8});
  expect_call("aten.inner.default", {a, rows}, {}, {2, 3, 2}, inner);
  expect_call("aten.kron.default", {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, {}, {2, 2},
              {3, 6, 4, 8});
  expect_call("aten.kron.default", {floats({2}, {1, 2}), floats({2, 2}, {1, 2, 3, 4})}, {}, {2, 4},
              {1, 2, 2, 4, 3, 4, 6, 8});
  const TensorData square = floats({2, 2}, {1, 1, 0, 1});
  expect_call("aten.linalg_matrix_power.default", {square}, {0}, {2, 2}, {1, 0, 0, 1});
  expect_call("aten.linalg_matrix_power.default", {square}, {5}, {2, 2}, {1, 5, 0, 1});
  expect_call("aten.linalg_multi_dot.default", {square, square, floats({2}, {3, 4})},
              {Argument::list({"$", "$", "$"})}, {2}, {11, 4});
  expect_call("aten.linalg_vecdot.default", {square, square}, {}, {2}, {2, 1});
}

TEST(DecomposeProducts, BilinearAddsTheBias) {
  const TensorData a = seeded_weights("a", 1, {2, 3}, 1);
  const TensorData b = seeded_weights("b", 1, {2, 4}, 1);
  const TensorData weight = seeded_weights("w", 1, {5, 3, 4}, 1);
  const TensorData bias = seeded_weights("c", 1, {5}, 1);
  const Values x = values_of(a);
  const Values y = values_of(b);
  const Values w = values_of(weight);
  const Values c = values_of(bias);
  Values expected;
  for (size_t n = 0; n < 2; ++n) {
    for (size_t o = 0; o < 5; ++o) {
      double sum = c[o];
      for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 4; ++j) sum += x[n * 3 + i] * w[(o * 3 + i) * 4 + j] * y[n * 4 + j];
      }
      expected.push_back(sum);
    }
  }
  expect_call("aten.bilinear.default", {a, b, weight, bias}, {}, {2, 5}, expected);
}

TEST(DecomposeProducts, IntegerProductsKeepDtypeAndTruncateScaleFactors) {
  const TensorData bytes = make_tensor_data(ScalarType::kByte, {2}, {std::byte{20}, std::byte{20}});
  const TensorData dot = lowered("aten.dot.default", {bytes, bytes}, {}, {}, {}, ScalarType::kByte);
  EXPECT_EQ(dot.dtype, ScalarType::kByte);
  EXPECT_EQ(values_of(dot), (Values{800 % 256}));
  const std::vector<TensorData> inputs = {integers({2}, {1, 2}), integers({2, 2}, {1, 2, 3, 4}),
                                          integers({2}, {5, 6})};
  const TensorData sum = lowered("aten.addmv.default", inputs, {}, {2},
                                 {{"alpha", 2.5}, {"beta", 3.5}}, ScalarType::kLong);
  EXPECT_EQ(sum.dtype, ScalarType::kLong);
  EXPECT_EQ(values_of(sum), (Values{3 * 1 + 2 * 17, 3 * 2 + 2 * 39}));
}

}  // namespace
}  // namespace vitrine::aot
