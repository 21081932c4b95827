// Hadamard transforms and the delta rule against their definitions in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "test/kernels/llm_call.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

class Hadamard : public Llm {};

INSTANTIATE_TEST_SUITE_P(Kernels, Hadamard, testing::Bool(), [](const auto& tested) {
  return tested.param ? "Optimized" : "Portable";
});

// A transform of unit vectors gives the columns of its matrix.
std::vector<float> columns(KernelCall& call, int32_t size) {
  Tensor& unit = call.make<float>(
      {size, size}, std::vector<float>(static_cast<size_t>(size) * static_cast<size_t>(size)));
  for (int i = 0; i < size; ++i) unit.mutable_data<float>()[i * size + i] = 1;
  Tensor& out = call.make(ScalarType::kFloat, {size, size});
  EXPECT_TRUE(succeeds(call.run("llama::fast_hadamard_transform.out", unit, out)));
  return values_of<float>(out);
}

TEST_P(Hadamard, OfAPowerOfTwoIsSylvesters) {
  for (const int32_t size : {1, 2, 16, 256}) {
    const std::vector<float> matrix = columns(call, size);
    for (int i = 0; i < size * size; ++i) {
      const auto both = static_cast<uint32_t>(i / size & i % size);
      const float sign = std::popcount(both) % 2 == 0 ? 1 : -1;
      ASSERT_NEAR(matrix[static_cast<size_t>(i)], sign / std::sqrt(static_cast<float>(size)), 1e-6);
    }
  }
}

// Columns are at right angles, of length root of 28, and the outer matrix begins with the first
// bits of its first row: 1 0 0 0.
TEST_P(Hadamard, OfTwentyEightBlocks) {
  for (const int32_t size : {28, 112}) {
    const std::vector<float> matrix = columns(call, size);
    for (int a = 0; a < size; ++a) {
      for (int b = 0; b < size; ++b) {
        double dot = 0;
        for (int i = 0; i < size; ++i) {
          dot += static_cast<double>(matrix[static_cast<size_t>(a * size + i)]) *
                 static_cast<double>(matrix[static_cast<size_t>(b * size + i)]);
        }
        ASSERT_NEAR(dot, a == b ? 28 : 0, 1e-4) << a << " " << b;
      }
    }
    const float one = 1 / std::sqrt(static_cast<float>(size / 28));
    for (int block = 0; block < 4; ++block) {
      const auto row = static_cast<size_t>(block * (size / 28) * size);
      EXPECT_NEAR(matrix[row], block == 0 ? one : -one, 1e-6);
    }
  }
  Tensor& odd = random_tensor({2, 12});
  Tensor& out = call.make(ScalarType::kFloat, {2, 12});
  EXPECT_TRUE(fails(run("fast_hadamard_transform.out", odd, out), kBad, "12 elements"));
}

// Rows are transformed by the matrix whose columns the transform gives, one row by one thread or
// many rows by several.
TEST_P(Hadamard, OfManyRows) {
  auto pool = ThreadPool::create(3, ThreadPool::Use::kAlways);
  ASSERT_TRUE(pool.ok());
  for (const int32_t size : {1, 2, 4, 8, 64, 512, 28, 56, 112, 224, 448, 896}) {
    SCOPED_TRACE(size);
    call.pool = nullptr;
    const std::vector<float> matrix = columns(call, size);
    call.pool = pool->get();
    const int32_t rows = 3 + 20'000 / size;
    Tensor& x = random_tensor({rows, size});
    Tensor& out = call.make(ScalarType::kFloat, {rows, size});
    ASSERT_TRUE(succeeds(run("fast_hadamard_transform.out", x, out)));
    for (int32_t row = 0; row < rows; row += std::max(1, rows / 20)) {
      for (int32_t j = 0; j < size; ++j) {
        double sum = 0;
        for (int32_t i = 0; i < size; ++i) {
          sum += static_cast<double>(x.data<float>()[row * size + i]) *
                 static_cast<double>(matrix[static_cast<size_t>(i) * static_cast<size_t>(size) +
                                            static_cast<size_t>(j)]);
        }
        ASSERT_NEAR(static_cast<double>(out.data<float>()[row * size + j]), sum, 5e-5)
            << row << " " << j;
      }
    }
  }
}

// Values that fill strips, and end within one; enough work for threads.
struct DeltaSizes {
  int heads, tokens, keys, values;
};

class DeltaRule : public Llm {
 protected:
  void expect_equations(const DeltaSizes& n) {
    SCOPED_TRACE(n.values);
    Tensor& q = random_tensor({1, n.heads, n.tokens, n.keys}, 0.5);
    Tensor& k = random_tensor({1, n.heads, n.tokens, n.keys}, 0.5);
    Tensor& v = random_tensor({1, n.heads, n.tokens, n.values}, 1);
    Tensor& decay = random_tensor({1, n.heads, n.tokens, n.keys}, 1);
    Tensor& beta = random_tensor({1, n.heads, n.tokens}, 0.5);
    Tensor& initial = random_tensor({1, n.heads, n.keys, n.values}, 1);
    Tensor& out = call.make(ScalarType::kFloat, {1, n.heads, n.tokens, n.values});
    Tensor& state = call.make(ScalarType::kFloat, {1, n.heads, n.keys, n.values});
    ASSERT_TRUE(succeeds(
        run("channelwise_gated_delta_rule.out", q, k, v, decay, beta, initial, out, state)));
    std::vector<double> s(static_cast<size_t>(n.keys));  // of one column, which needs no other
    for (int h = 0; h < n.heads; ++h) {
      for (int j = 0; j < n.values; ++j) {
        for (int i = 0; i < n.keys; ++i) s[static_cast<size_t>(i)] = at(initial, 0, h, i, j);
        for (int t = 0; t < n.tokens; ++t) {
          const auto b = static_cast<double>(beta.data<float>()[h * n.tokens + t]);
          double told = 0, answer = 0;
          for (int i = 0; i < n.keys; ++i) {
            s[static_cast<size_t>(i)] *= at(decay, 0, h, t, i);
            told += s[static_cast<size_t>(i)] * at(k, 0, h, t, i);
          }
          for (int i = 0; i < n.keys; ++i) {
            s[static_cast<size_t>(i)] += at(k, 0, h, t, i) * b * (at(v, 0, h, t, j) - told);
            answer += s[static_cast<size_t>(i)] * at(q, 0, h, t, i);
          }
          ASSERT_NEAR(at(out, 0, h, t, j), answer, 1e-5);
        }
        for (int i = 0; i < n.keys; ++i) {
          ASSERT_NEAR(at(state, 0, h, i, j), s[static_cast<size_t>(i)], 1e-5);
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, DeltaRule, testing::Bool(), [](const auto& tested) {
  return tested.param ? "Optimized" : "Portable";
});

TEST_P(DeltaRule, FollowsItsEquations) {
  auto pool = ThreadPool::create(3, ThreadPool::Use::kAlways);
  ASSERT_TRUE(pool.ok());
  for (ThreadPool* const threads : {static_cast<ThreadPool*>(nullptr), pool->get()}) {
    call.pool = threads;
    for (const DeltaSizes& sizes :
         {DeltaSizes{2, 3, 4, 5}, {3, 9, 16, 64}, {1, 20, 7, 131}, {2, 40, 33, 67}}) {
      expect_equations(sizes);
    }
  }
}

}  // namespace
}  // namespace vitrine::test
