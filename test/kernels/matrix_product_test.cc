// Tests mm, bmm, addmm and linear against the definition of the product.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

// Returns small integers, whose sums are exact in every dtype and in any order.
template <class T>
std::vector<T> small_numbers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(T(static_cast<float>(static_cast<int>(random() % 5) - 2)));
  }
  return values;
}

// The product of row-major matrices m x k and k x n.
template <class T>
std::vector<double> product(const std::vector<T>& a, const std::vector<T>& b, size_t m, size_t k,
                            size_t n) {
  std::vector<double> result(m * n);
  for (size_t i = 0; i < m; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t d = 0; d < k; ++d) {
        result[i * n + j] += static_cast<double>(a[i * k + d]) * static_cast<double>(b[d * n + j]);
      }
    }
  }
  return result;
}

template <class T>
class Mm : public testing::Test {};
using Dtypes = testing::Types<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Mm, Dtypes);

// Uses sizes around the edges of tiles and blocks, and sizes of several blocks.
TYPED_TEST(Mm, MatchesTheDefinition) {
  const size_t sizes[][3] = {{1, 1, 1},  {3, 5, 7},     {4, 8, 8},
                             {5, 9, 33}, {33, 130, 20}, {2, 300, 3}};
  for (const auto& [m, k, n] : sizes) {
    KernelCall call;
    const auto a = small_numbers<TypeParam>(m * k, 1);
    const auto b = small_numbers<TypeParam>(k * n, 2);
    const std::vector<double> expected = product(a, b, m, k, n);
    const auto rows = static_cast<int32_t>(m);
    const auto depth = static_cast<int32_t>(k);
    const auto columns = static_cast<int32_t>(n);
    Tensor& left = call.make<TypeParam>({rows, depth}, a);
    Tensor& right = call.make<TypeParam>({depth, columns}, b);
    Tensor& out = call.make(scalar_type_of<TypeParam>, {rows, columns});
    ASSERT_TRUE(succeeds(call.run("aten::mm.out", left, right, out)));
    const auto values = values_of<TypeParam>(out);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(static_cast<double>(values[i]),
                static_cast<double>(static_cast<TypeParam>(static_cast<float>(expected[i]))))
          << m << "x" << k << "x" << n << " at " << i;
    }
  }
}

TEST(MatrixProduct, WrapsIntegersAround) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({1, 2}, {INT32_MAX, 1});
  Tensor& b = call.make<int32_t>({2, 1}, {2, 3});
  Tensor& out = call.make(ScalarType::kInt, {1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::mm.out", a, b, out)));
  EXPECT_EQ(out.data<int32_t>()[0], 1);  // 2 (2^31 - 1) + 3 = 2^32 + 1
  Tensor& long_a = call.make<int64_t>({1, 1}, {INT64_MIN});
  Tensor& long_b = call.make<int64_t>({1, 1}, {-1});
  Tensor& long_out = call.make(ScalarType::kLong, {1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::mm.out", long_a, long_b, long_out)));
  EXPECT_EQ(long_out.data<int64_t>()[0], INT64_MIN);
}

TEST(MatrixProduct, AccumulatesF16InF32) {
  KernelCall call;
  // In Half, 2048 + 1 is 2048, so a sum in Half would lose every 1.
  std::vector<Half> ones(2048, Half(1.0f));
  ones.insert(ones.begin(), Half(2048.0f));
  Tensor& a = call.make<Half>({1, 2049}, ones);
  Tensor& b = call.make<Half>({2049, 1}, std::vector<Half>(2049, Half(1.0f)));
  Tensor& out = call.make(ScalarType::kHalf, {1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::mm.out", a, b, out)));
  EXPECT_EQ(float(out.data<Half>()[0]), 4096.0f);
}

TEST(MatrixProduct, ReadsTransposedMemory) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 3}, {1, 4, 2, 5, 3, 6}, {1, 0});  // 1 2 3 / 4 5 6
  Tensor& b = call.make<float>({3, 2}, {1, 3, 5, 2, 4, 6}, {1, 0});  // 1 2 / 3 4 / 5 6
  Tensor& out = call.make(ScalarType::kFloat, {2, 2}, {1, 0});
  ASSERT_TRUE(succeeds(call.run("aten::mm.out", a, b, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(22, 49, 28, 64));  // 22 28 / 49 64
}

TEST(MatrixProduct, ReturnsZeroIfTheInnerSizeIsZero) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {2, 0});
  Tensor& b = call.make(ScalarType::kFloat, {0, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::mm.out", a, b, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 0, 0));
}

TEST(MatrixProduct, RejectsMismatchedMatrices) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  EXPECT_TRUE(fails(call.run("aten::mm.out", a, a, out), kBad, "[2,3] and [2,3]"));
  Tensor& doubles = call.make<double>({3, 3}, std::vector<double>(9));
  EXPECT_TRUE(fails(call.run("aten::mm.out", a, doubles, out), kBad, "f64"));
  Tensor& vector = call.make<float>({3}, {1, 2, 3});
  EXPECT_TRUE(fails(call.run("aten::mm.out", a, vector, out), kBad, "rank"));
  Tensor& square = call.make<float>({3, 3}, std::vector<float>(9));
  square.set_data(nullptr);
  EXPECT_TRUE(
      fails(call.run("aten::mm.out", a, square, out), ErrorCode::kInvalidState, "without memory"));
}

TEST(Addmm, ScalesAndBroadcasts) {
  KernelCall call;
  Tensor& bias = call.make<float>({2}, {10, 20});
  Tensor& a = call.make<float>({2, 1}, {1, 2});
  Tensor& b = call.make<float>({1, 2}, {3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::addmm.out", bias, a, b, 0.5, 2, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(11, 18, 17, 26));
  Tensor& wide = call.make<float>({3}, {1, 2, 3});
  EXPECT_TRUE(fails(call.run("aten::addmm.out", wide, a, b, 1, 1, out), kBad, "broadcast"));
}

TEST(Addmm, BetaZeroIgnoresNan) {
  KernelCall call;
  Tensor& bias = call.make<float>({1}, {NAN});
  Tensor& a = call.make<float>({1, 1}, {2});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::addmm.out", bias, a, a, 0, 1, out)));
  EXPECT_EQ(out.data<float>()[0], 4);
}

TEST(Bmm, MultipliesEachPair) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 1, 2}, {1, 2, 3, 4});
  Tensor& b = call.make<float>({2, 2, 1}, {5, 6, 7, 8});
  Tensor& out = call.make(ScalarType::kFloat, {2, 1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::bmm.out", a, b, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(17, 53));
  Tensor& three = call.make<float>({3, 2, 1}, {5, 6, 7, 8, 9, 10});
  EXPECT_TRUE(fails(call.run("aten::bmm.out", a, three, out), kBad, "matrices"));
}

TEST(Linear, AcceptsABiasWithOneElementOrOnePerColumn) {
  KernelCall call;
  Tensor& input = call.make<float>({1, 2, 2}, {1, 2, 3, 4});
  Tensor& weight = call.make<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  Tensor& bias = call.make<float>({3}, {10, 20, 30});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::linear.out", input, weight, bias, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(11, 22, 33, 13, 24, 37));
  Tensor& one = call.make<float>({1}, {100});
  ASSERT_TRUE(succeeds(call.run("aten::linear.out", input, weight, one, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(101, 102, 103, 103, 104, 107));
  ASSERT_TRUE(succeeds(call.run("aten::linear.out", input, weight, call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3, 3, 4, 7));
  Tensor& two = call.make<float>({2}, {1, 2});
  EXPECT_TRUE(fails(call.run("aten::linear.out", input, weight, two, out), kBad, "bias"));
}

}  // namespace
}  // namespace vitrine::test
