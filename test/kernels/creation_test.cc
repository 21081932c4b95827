// Tests operators that create tensors: constants, ranges and random numbers.
#include <algorithm>
#include <numeric>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(Creation, FullConvertsValueToDtype) {
  check_kernel("aten::full.out", {{"[2,1] 1.5 !f16[2,1]", "1.5,1.5"},
                                  {"[2] 0.5 !bool[2]", "1,1"},
                                  {"[1] inf !f16[1]", "inf"},
                                  {"[1] 128 !i8[1]", "error: 128"},
                                  {"[1] 1.0e6 !f16[1]", "error: "},
                                  {"[1] inf !i8[1]", "error: "},
                                  {"[-1] 1 !~f32[2]", "error: "}});
}

TEST(Creation, RejectsSizesOutOfRange) {
  check_kernel("aten::zeros.out", {{"[3] !~f32[2]", "error: "}, {"[1] !~f32[2]", "0"}});
  check_kernel("aten::ones.out", {{"[8589934592] !~f32[2]", "error: "}});
}

TEST(Creation, ArangeComputesRanges) {
  check_kernel("aten::arange.start_out", {{"1.0 2.1 0.5 !f32[3]", "1,1.5,2"},
                                          {"5 0 -2 !i32[3]", "5,3,1"},
                                          {"4 4 1 !i64[0]", "empty"},
                                          {"1152921504606846977 1152921504606846979 1 !i64[2]",
                                           "1152921504606846977,1152921504606846978"},
                                          {"0 min min !i64[1]", "0"}});
}

TEST(Creation, ArangeRejectsInvalidRanges) {
  check_kernel("aten::arange.start_out", {{"0 2 0 !~i64[2]", "error: "},
                                          {"0 2 -1 !~i64[2]", "error: "},
                                          {"min 2 1 !~i64[2]", "error: "},
                                          {"0.0 1.0 0.0 !~f32[2]", "error: "},
                                          {"0.0 nan 1.0 !~f32[2]", "error: "}});
  check_kernel("aten::arange.out", {{"1.0e300 !~f32[2]", "error: "}});
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
  Tensor& out =
      call.output_of(scalar_type_of<TypeParam>, {kCount}, "aten::rand.out", call.ints({kCount}));
  double sum = 0;
  for (const TypeParam number : values_of<TypeParam>(out)) {
    const auto value = static_cast<double>(number);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  // The random BFloat16 numbers are multiples of 2^-8, so their mean is 2^-9 below 0.5. The
  // tolerance is 2^-9 plus six standard errors.
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
}  // namespace vitrine::test
