// Tests mm, bmm, addmm and linear against the definition of the product.

#include <random>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

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
    Tensor& out =
        call.output_of(scalar_type_of<TypeParam>, {rows, columns}, "aten::mm.out", left, right);
    const auto values = values_of<TypeParam>(out);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(static_cast<double>(values[i]),
                static_cast<double>(static_cast<TypeParam>(static_cast<float>(expected[i]))))
          << m << "x" << k << "x" << n << " at " << i;
    }
  }
}

TEST(MatrixProduct, WrapsIntegersAround) {
  check_kernel("aten::mm.out",
               {{"i32[1,2]{2147483647,1} i32[2,1]{2,3} !i32[1,1]", "1"},  // 2 (2^31 - 1) + 3
                {"i64[1,1]{min} i64[1,1]{-1} !i64[1,1]", "min"}});
}

// In f16, 2048 + 1 is 2048, so a sum in f16 would lose every 1.
TEST(MatrixProduct, AccumulatesF16InF32) {
  KernelCall call;
  std::vector<Half> ones(2048, Half(1.0f));
  ones.insert(ones.begin(), Half(2048.0f));
  Tensor& a = call.make<Half>({1, 2049}, ones);
  Tensor& b = call.make<Half>({2049, 1}, std::vector<Half>(2049, Half(1.0f)));
  Tensor& out = call.output_of(ScalarType::kHalf, {1, 1}, "aten::mm.out", a, b);
  EXPECT_EQ(float(out.data<Half>()[0]), 4096.0f);
}

// The product of 1 2 3 / 4 5 6 and 1 2 / 3 4 / 5 6 is 22 28 / 49 64.
TEST(MatrixProduct, ReadsTransposedMemory) {
  check_kernel("aten::mm.out",
               {{"f32[2,3]:10{1,4,2,5,3,6} f32[3,2]:10{1,3,5,2,4,6} !f32[2,2]:10", "22,49,28,64"}});
}

TEST(MatrixProduct, ReturnsZeroIfTheInnerSizeIsZero) {
  check_kernel("aten::mm.out", {{"f32[2,0] f32[0,2] !f32[2,2]", "0,0,0,0"}});
}

TEST(MatrixProduct, RejectsMismatchedMatrices) {
  check_kernel("aten::mm.out", {{"f32[2,3] f32[2,3] !f32[2,3]", "error: [2,3] and [2,3]"},
                                {"f32[2,3] f64[3,3] !f32[2,3]", "error: f64"},
                                {"f32[2,3] f32[3] !f32[2,3]", "error: rank"}});
  KernelCall call;
  Tensor& a = call.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  Tensor& square = call.make<float>({3, 3}, std::vector<float>(9));
  square.set_data(nullptr);
  EXPECT_TRUE(
      fails(call.run("aten::mm.out", a, square, out), ErrorCode::kInvalidState, "without memory"));
}

TEST(Addmm, ScalesAndBroadcasts) {
  const std::string factors = " f32[2,1]{1,2} f32[1,2]{3,4} ";
  check_kernel("aten::addmm.out", {{"f32[2]{10,20}" + factors + "0.5 2 !f32[2,2]", "11,18,17,26"},
                                   {"f32[3]" + factors + "1 1 !f32[2,2]", "error: broadcast"},
                                   // If beta is zero, NaN is ignored.
                                   {"f32[1]{nan} f32[1,1]{2} f32[1,1]{2} 0 1 !f32[1,1]", "4"}});
}

TEST(Bmm, MultipliesEachPair) {
  check_kernel("aten::bmm.out", {{"f32[2,1,2]{1,2,3,4} f32[2,2,1]{5,6,7,8} !f32[2,1,1]", "17,53"},
                                 {"f32[2,1,2] f32[3,2,1] !f32[2,1,1]", "error: matrices"}});
}

TEST(Linear, AcceptsABiasWithOneElementOrOnePerColumn) {
  const std::string inputs = "f32[1,2,2]{1,2,3,4} f32[3,2]{1,0,0,1,1,1} ";
  check_kernel("aten::linear.out", {{inputs + "f32[3]{10,20,30} !f32[1,2,3]", "11,22,33,13,24,37"},
                                    {inputs + "f32[1]{100} !f32[1,2,3]", "101,102,103,103,104,107"},
                                    {inputs + "none !f32[1,2,3]", "1,2,3,3,4,7"},
                                    {inputs + "f32[2] !f32[1,2,3]", "error: bias"}});
}

}  // namespace
}  // namespace vitrine::test
