// Tests operators that create tensors: constants, ranges and random numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "test/kernels/kernel_call.h"

namespace vitrine {
namespace {

using test::fails;
using test::KernelCall;
using test::succeeds;
using test::values_of;

TEST(Creation, FullConvertsValueToDtype) {
  KernelCall call;
  Tensor& halves = call.make(ScalarType::kHalf, {2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::full.out", call.ints({2, 1}), 1.5, halves)));
  EXPECT_EQ(static_cast<float>(values_of<Half>(halves)[1]), 1.5f);
  Tensor& flags = call.make(ScalarType::kBool, {2});
  ASSERT_TRUE(succeeds(call.run("aten::full.out", call.ints({2}), 0.5, flags)));
  EXPECT_EQ(values_of<bool>(flags), (std::vector<bool>{true, true}));
}

TEST(Creation, FullRejectsValueThatTheDtypeCannotHold) {
  KernelCall call;
  Tensor& bytes = call.make(ScalarType::kChar, {1});
  EXPECT_TRUE(fails(call.run("aten::full.out", call.ints({1}), 128, bytes),
                    ErrorCode::kInvalidArgument, "128"));
  Tensor& halves = call.make(ScalarType::kHalf, {1});
  EXPECT_FALSE(call.run("aten::full.out", call.ints({1}), 1e6, halves).ok());
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(succeeds(call.run("aten::full.out", call.ints({1}), infinity, halves)));
  EXPECT_FALSE(call.run("aten::full.out", call.ints({1}), infinity, bytes).ok());
}

TEST(Creation, RejectsSizesOutOfRange) {
  KernelCall call;
  Tensor& out = call.make(ScalarType::kFloat, {2}, {}, ShapeDynamism::kDynamicBound);
  EXPECT_FALSE(call.run("aten::full.out", call.ints({-1}), 1, out).ok());
  EXPECT_FALSE(call.run("aten::zeros.out", call.ints({3}), out).ok());
  EXPECT_FALSE(call.run("aten::ones.out", call.ints({int64_t{1} << 33}), out).ok());
  EXPECT_TRUE(succeeds(call.run("aten::zeros.out", call.ints({1}), out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{0}));
}

TEST(Creation, ArangeComputesRanges) {
  KernelCall call;
  Tensor& three = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(succeeds(call.run("aten::arange.start_out", 1.0, 2.1, 0.5, three)));
  EXPECT_EQ(values_of<float>(three), (std::vector<float>{1, 1.5, 2}));
  Tensor& down = call.make(ScalarType::kInt, {3});
  ASSERT_TRUE(succeeds(call.run("aten::arange.start_out", 5, 0, -2, down)));
  EXPECT_EQ(values_of<int32_t>(down), (std::vector<int32_t>{5, 3, 1}));
  Tensor& empty = call.make(ScalarType::kLong, {0});
  EXPECT_TRUE(succeeds(call.run("aten::arange.start_out", 4, 4, 1, empty)));
}

TEST(Creation, ArangeIsExactForLargeIntegers) {
  KernelCall call;
  const int64_t start = (int64_t{1} << 60) + 1;
  Tensor& out = call.make(ScalarType::kLong, {2});
  ASSERT_TRUE(succeeds(call.run("aten::arange.start_out", start, start + 2, 1, out)));
  EXPECT_EQ(values_of<int64_t>(out), (std::vector<int64_t>{start, start + 1}));
}

TEST(Creation, ArangeAcceptsMinimumIntegerAsStep) {
  KernelCall call;
  const int64_t low = std::numeric_limits<int64_t>::min();
  Tensor& out = call.make(ScalarType::kLong, {1});
  ASSERT_TRUE(succeeds(call.run("aten::arange.start_out", 0, low, low, out)));
  EXPECT_EQ(values_of<int64_t>(out)[0], 0);
}

TEST(Creation, ArangeRejectsInvalidRanges) {
  KernelCall call;
  Tensor& out = call.make(ScalarType::kLong, {2}, {}, ShapeDynamism::kDynamicBound);
  Tensor& real = call.make(ScalarType::kFloat, {2}, {}, ShapeDynamism::kDynamicBound);
  const int64_t low = std::numeric_limits<int64_t>::min();
  EXPECT_FALSE(call.run("aten::arange.start_out", 0, 2, 0, out).ok());
  EXPECT_FALSE(call.run("aten::arange.start_out", 0, 2, -1, out).ok());
  EXPECT_FALSE(call.run("aten::arange.start_out", low, 2, 1, out).ok());
  EXPECT_FALSE(call.run("aten::arange.start_out", 0.0, 1.0, 0.0, real).ok());
  EXPECT_FALSE(call.run("aten::arange.start_out", 0.0, std::nan(""), 1.0, real).ok());
  EXPECT_FALSE(call.run("aten::arange.out", 1e300, real).ok());
}

TEST(Creation, RandomNumbersHaveTheExpectedDistribution) {
  KernelCall call;
  constexpr int32_t kCount = 10000;
  Tensor& out = call.make(ScalarType::kFloat, {kCount});
  const auto moments = [&] {
    const std::vector<float> x = values_of<float>(out);
    const double mean = std::accumulate(x.begin(), x.end(), 0.0) / kCount;
    double squares = 0;
    for (const float value : x) squares += (value - mean) * (value - mean);
    return std::pair(mean, squares / kCount);
  };
  // The tolerances are more than six standard errors.
  ASSERT_TRUE(succeeds(call.run("aten::rand.out", call.ints({kCount}), out)));
  EXPECT_NEAR(moments().first, 0.5, 0.02);
  EXPECT_NEAR(moments().second, 1.0 / 12, 0.006);
  const std::vector<float> first = values_of<float>(out);
  ASSERT_TRUE(succeeds(call.run("aten::rand.out", call.ints({kCount}), out)));
  EXPECT_NE(values_of<float>(out), first);
  ASSERT_TRUE(succeeds(call.run("aten::randn.out", call.ints({kCount}), out)));
  EXPECT_NEAR(moments().first, 0, 0.06);
  EXPECT_NEAR(moments().second, 1, 0.09);
}

template <class T>
class Uniform : public testing::Test {};
using Floating = testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(Uniform, Floating);

TYPED_TEST(Uniform, ReturnsNumbersBelowOne) {
  KernelCall call;
  constexpr int32_t kCount = 1'000'000;
  Tensor& out = call.make(scalar_type_of<TypeParam>, {kCount});
  ASSERT_TRUE(succeeds(call.run("aten::rand.out", call.ints({kCount}), out)));
  double sum = 0;
  for (const TypeParam number : values_of<TypeParam>(out)) {
    const auto value = static_cast<double>(number);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  // In BFloat16, the numbers are multiples of 2^-8, so their mean is 2^-9 below 0.5. The bound is
  // this difference plus six standard errors.
  EXPECT_NEAR(sum / kCount, 0.5, 0x1p-9 + 0.0018);
}

TEST(Creation, DropoutScalesTheElementsItKeeps) {
  KernelCall call;
  constexpr int32_t kCount = 10000;
  Tensor& a = call.make<float>({kCount}, std::vector<float>(kCount, 3.0f));
  Tensor& out = call.make(ScalarType::kFloat, {kCount});
  Tensor& mask = call.make(ScalarType::kBool, {kCount});
  ASSERT_TRUE(succeeds(call.run("aten::native_dropout.out", a, 0.25, true, out, mask)));
  const std::vector<bool> kept = values_of<bool>(mask);
  const std::vector<float> values = values_of<float>(out);
  for (size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(values[i], kept[i] ? 4.0f : 0.0f);
  EXPECT_NEAR(static_cast<double>(std::count(kept.begin(), kept.end(), true)), 7500, 300);
  ASSERT_TRUE(succeeds(call.run("aten::native_dropout.out", a, 0.25, false, out, mask)));
  EXPECT_EQ(values_of<float>(out), values_of<float>(a));
  EXPECT_FALSE(call.run("aten::native_dropout.out", a, 1.5, true, out, mask).ok());
}

}  // namespace
}  // namespace vitrine
