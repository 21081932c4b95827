// Tests Hadamard transforms and the delta rule against their definitions in double.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "test/kernels/llm_call.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

class Hadamard : public Llm {};

INSTANTIATE_TEST_SUITE_P(Kernels, Hadamard, testing::Bool(), kernels_name);

// Returns the columns of the transform's matrix, by transforming unit vectors.
std::vector<float> columns(KernelCall& call, int32_t size) {
  Tensor& unit = call.make<float>(
      {size, size}, std::vector<float>(static_cast<size_t>(size) * static_cast<size_t>(size)));
  for (int i = 0; i < size; ++i) unit.mutable_data<float>()[i * size + i] = 1;
  Tensor& out =
      call.output_of(ScalarType::kFloat, {size, size}, "llama::fast_hadamard_transform.out", unit);
  return values_of<float>(out);
}

TEST_P(Hadamard, PowerOfTwoSizesMatchSylvesterMatrix) {
  for (const int32_t size : {1, 2, 16, 256}) {
    const std::vector<float> matrix = columns(call, size);
    for (int i = 0; i < size * size; ++i) {
      const auto both = static_cast<uint32_t>(i / size & i % size);
      const float sign = std::popcount(both) % 2 == 0 ? 1 : -1;
      ASSERT_NEAR(matrix[static_cast<size_t>(i)], sign / std::sqrt(static_cast<float>(size)), 1e-6);
    }
  }
}

// The columns are orthogonal and have the length sqrt(28). The signs in the first row of the
// 28 x 28 matrix begin with + - - -.
TEST_P(Hadamard, MultiplesOf28GiveOrthogonalMatrices) {
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

// Transforms many rows on several threads. Expects each result to be the product of the row and the
// matrix from columns().
TEST_P(Hadamard, SeveralThreadsTransformManyRowsCorrectly) {
  const auto pool = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  for (const int32_t size : {1, 2, 4, 8, 64, 512, 28, 56, 112, 224, 448, 896}) {
    SCOPED_TRACE(size);
    call.pool = nullptr;
    const std::vector<float> matrix = columns(call, size);
    call.pool = pool.get();
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

// Sizes of a call to the delta rule. Each head has one state, which `group` query heads read.
// `values` need not be a multiple of the number of columns that the kernel computes together.
struct DeltaSizes {
  int heads, tokens, keys, values;
  int group = 1;
  bool has_scalar_decay = false;
};

class DeltaRule : public Llm {
 protected:
  void expect_equations(const DeltaSizes& n, const char* name = "gated_delta_rule.out") {
    SCOPED_TRACE(n.values);
    const int queries = n.heads * n.group;
    Tensor& q = random_tensor({1, queries, n.tokens, n.keys}, 0.5);
    Tensor& k = random_tensor({1, n.heads, n.tokens, n.keys}, 0.5);
    Tensor& v = random_tensor({1, n.heads, n.tokens, n.values}, 1);
    Tensor& decay = n.has_scalar_decay ? random_tensor({1, n.heads, n.tokens}, 1)
                                       : random_tensor({1, n.heads, n.tokens, n.keys}, 1);
    Tensor& beta = random_tensor({1, n.heads, n.tokens}, 0.5);
    Tensor& initial = random_tensor({1, n.heads, n.keys, n.values}, 1);
    Tensor& out = call.make(ScalarType::kFloat, {1, queries, n.tokens, n.values});
    Tensor& state = call.make(ScalarType::kFloat, {1, n.heads, n.keys, n.values});
    ASSERT_TRUE(succeeds(run(name, q, k, v, decay, beta, initial, out, state)));
    std::vector<double> s(
        static_cast<size_t>(n.keys));  // state of one column; columns are independent
    for (int h = 0; h < n.heads; ++h) {
      for (int j = 0; j < n.values; ++j) {
        for (int i = 0; i < n.keys; ++i) s[static_cast<size_t>(i)] = at(initial, 0, h, i, j);
        for (int t = 0; t < n.tokens; ++t) {
          const auto b = static_cast<double>(beta.data<float>()[h * n.tokens + t]);
          double predicted = 0;
          for (int i = 0; i < n.keys; ++i) {
            s[static_cast<size_t>(i)] *=
                n.has_scalar_decay ? static_cast<double>(decay.data<float>()[h * n.tokens + t])
                                   : at(decay, 0, h, t, i);
            predicted += s[static_cast<size_t>(i)] * at(k, 0, h, t, i);
          }
          for (int i = 0; i < n.keys; ++i) {
            s[static_cast<size_t>(i)] += at(k, 0, h, t, i) * b * (at(v, 0, h, t, j) - predicted);
          }
          for (int head = h * n.group; head < (h + 1) * n.group; ++head) {
            double result = 0;
            for (int i = 0; i < n.keys; ++i) {
              result += s[static_cast<size_t>(i)] * at(q, 0, head, t, i);
            }
            ASSERT_NEAR(at(out, 0, head, t, j), result, 1e-5);
          }
        }
        for (int i = 0; i < n.keys; ++i) {
          ASSERT_NEAR(at(state, 0, h, i, j), s[static_cast<size_t>(i)], 1e-5);
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Kernels, DeltaRule, testing::Bool(), kernels_name);

TEST_P(DeltaRule, MatchesEquations) {
  const auto pool = require(ThreadPool::create(3, ThreadPool::Use::kAlways));
  for (ThreadPool* const threads : {static_cast<ThreadPool*>(nullptr), pool.get()}) {
    call.pool = threads;
    for (const DeltaSizes& sizes : {DeltaSizes{2, 3, 4, 5},
                                    {3, 9, 16, 64},
                                    {1, 20, 7, 131},
                                    {2, 40, 33, 67},
                                    {2, 5, 6, 70, 3},
                                    {3, 4, 8, 9, 1, true},
                                    {2, 33, 5, 65, 2, true}}) {
      expect_equations(sizes);
    }
  }
}

TEST_P(DeltaRule, OldNameRefersToTheSameOperator) {
  expect_equations({2, 3, 4, 5, 2}, "channelwise_gated_delta_rule.out");
}

TEST_P(DeltaRule, RejectsQueryHeadsThatAreNotAMultipleOfTheKeyHeads) {
  Tensor& q = random_tensor({1, 3, 1, 4}, 1);
  Tensor& k = random_tensor({1, 2, 1, 4}, 1);
  Tensor& beta = random_tensor({1, 2, 1}, 1);
  Tensor& state = random_tensor({1, 2, 4, 4}, 1);
  Tensor& out = call.make(ScalarType::kFloat, {1, 3, 1, 4});
  EXPECT_TRUE(fails(run("gated_delta_rule.out", q, k, k, k, beta, state, out, state), kBad,
                    "query has 3 heads"));
}

}  // namespace
}  // namespace vitrine::test
