// Tests pooling: windows, padding, ties, NaN and memory formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

class Pooling : public testing::Test {
 protected:
  KernelCall call;

  Tensor& image(int32_t height, int32_t width) {
    std::vector<float> values(static_cast<size_t>(height * width));
    std::iota(values.begin(), values.end(), 1.0f);
    return call.make<float>({1, 1, height, width}, values);
  }
  Error max_pool(Tensor& self, std::initializer_list<int64_t> kernel,
                 std::initializer_list<int64_t> stride, int64_t padding, int64_t dilation,
                 bool ceil_mode, Tensor& out, Tensor& indices) {
    return call.run("aten::max_pool2d_with_indices.out", self, call.ints(kernel), call.ints(stride),
                    call.ints({padding}), call.ints({dilation}), ceil_mode, out, indices);
  }
  Error avg_pool(Tensor& self, std::initializer_list<int64_t> kernel,
                 std::initializer_list<int64_t> stride, int64_t padding, bool ceil_mode,
                 bool count_include_pad, const EValue& divisor, Tensor& out) {
    return call.run("aten::avg_pool2d.out", self, call.ints(kernel), call.ints(stride),
                    call.ints({padding}), ceil_mode, count_include_pad, divisor, out);
  }
};

TEST_F(Pooling, MaxUsesKernelSizeAsDefaultStride) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 2});
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 2, 2});
  ASSERT_TRUE(succeeds(max_pool(image(4, 5), {2}, {}, 0, 1, false, out, indices)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(7, 9, 17, 19));
  EXPECT_THAT(values_of<int64_t>(indices), ElementsAre(6, 8, 16, 18));
}

TEST_F(Pooling, MaxAppliesPaddingDilationAndCeilMode) {
  // The image is 4 x 4. Windows are 3 taps with dilation 2, starting at -1.
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 2});
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 2, 2});
  ASSERT_TRUE(succeeds(max_pool(image(4, 4), {3}, {2}, 1, 2, true, out, indices)));
  // The first window has rows and columns -1, 1 and 3, so its largest element is the last, at (3,
  // 3).
  EXPECT_THAT(values_of<float>(out), ElementsAre(16, 16, 16, 16));
  Tensor& wide = call.make(ScalarType::kFloat, {1, 1, 1, 3});
  Tensor& wide_indices = call.make(ScalarType::kLong, {1, 1, 1, 3});
  ASSERT_TRUE(succeeds(max_pool(image(1, 5), {1, 2}, {1, 2}, 0, 1, true, wide, wide_indices)));
  EXPECT_THAT(values_of<float>(wide), ElementsAre(2, 4, 5));
}

TEST_F(Pooling, CeilModeAllowsWindowBeyondInput) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 2});
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 1, 2});
  ASSERT_TRUE(succeeds(max_pool(image(1, 3), {1, 2}, {1, 2}, 0, 1, true, out, indices)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 3));
  ASSERT_TRUE(succeeds(avg_pool(image(1, 3), {2}, {2}, 0, true, false, EValue(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1.5f, 3));
  Tensor& none = call.make(ScalarType::kFloat, {1, 1, 1, 1});
  EXPECT_TRUE(fails(avg_pool(image(1, 3), {1, 5}, {2}, 0, true, false, EValue(), none), kBad,
                    "a window of 5 elements"));
}

// The taps are at rows -2147483 and 2147483. In the latter row, the indices of some elements exceed
// the range of int32.
TEST_F(Pooling, MaxReturnsMinusInfinityForWindowsOutsideImage) {
  KernelRegistry optimized;
  ASSERT_TRUE(optimized.add("optimized", optimized::kernels()).ok());
  for (const KernelRegistry* registry : {static_cast<const KernelRegistry*>(nullptr),
                                         static_cast<const KernelRegistry*>(&optimized)}) {
    call.registry = registry;
    Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1000});
    Tensor& indices = call.make(ScalarType::kLong, {1, 1, 1, 1000});
    ASSERT_TRUE(succeeds(call.run("aten::max_pool2d_with_indices.out", image(1, 1000),
                                  call.ints({2, 1}), call.ints({1, 1}), call.ints({2147483, 0}),
                                  call.ints({4294966, 1}), false, out, indices)));
    for (int64_t x = 0; x < 1000; ++x) {
      EXPECT_EQ(out.data<float>()[x], -std::numeric_limits<float>::infinity());
      EXPECT_EQ(indices.data<int64_t>()[x], 2147483000 + x);
    }
  }
}

TEST_F(Pooling, MaxPrefersNanAndThenFirstOfEqualElements) {
  Tensor& self = call.make<float>({1, 1, 6}, {3, 3, NAN, 5, -INFINITY, -INFINITY});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 3});
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 3});
  ASSERT_TRUE(succeeds(max_pool(self, {1, 2}, {1, 2}, 0, 1, false, out, indices)));
  EXPECT_EQ(out.data<float>()[0], 3);
  EXPECT_TRUE(std::isnan(out.data<float>()[1]));
  EXPECT_EQ(out.data<float>()[2], -INFINITY);
  EXPECT_THAT(values_of<int64_t>(indices), ElementsAre(0, 2, 4));
}

TEST_F(Pooling, ReadsAndWritesChannelsLast) {
  // The image is 2 x 2. Its channels are {1, 2, 3, 4} and {50, 60, 70, 80} in logical order.
  Tensor& self = call.make<float>({1, 2, 2, 2}, {1, 50, 2, 60, 3, 70, 4, 80}, {0, 2, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 1, 2}, {0, 2, 3, 1});
  Tensor& indices = call.make(ScalarType::kLong, {1, 2, 1, 2});
  ASSERT_TRUE(succeeds(max_pool(self, {2, 1}, {1}, 0, 1, false, out, indices)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 70, 4, 80));
  EXPECT_THAT(values_of<int64_t>(indices), ElementsAre(2, 3, 2, 3));
}

TEST_F(Pooling, RejectsInvalidWindows) {
  Tensor& self = image(4, 4);
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 2});
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 2, 2});
  EXPECT_TRUE(fails(max_pool(self, {0}, {}, 0, 1, false, out, indices), kBad, "kernel_size"));
  EXPECT_TRUE(fails(max_pool(self, {2}, {0}, 0, 1, false, out, indices), kBad, "stride"));
  EXPECT_TRUE(fails(max_pool(self, {2}, {2}, 0, 0, false, out, indices), kBad, "dilation"));
  EXPECT_TRUE(fails(max_pool(self, {2}, {2}, 2, 1, false, out, indices), kBad, "padding"));
  EXPECT_TRUE(fails(max_pool(self, {2}, {2}, -1, 1, false, out, indices), kBad, "padding"));
  EXPECT_TRUE(fails(max_pool(self, {5}, {1}, 0, 1, false, out, indices), kBad, "window"));
  EXPECT_TRUE(fails(max_pool(self, {2}, {1}, 0, INT32_MAX, false, out, indices), kBad, "window"));
  EXPECT_TRUE(fails(max_pool(self, {1, 1, 1}, {}, 0, 1, false, out, indices), kBad, "kernel_size"));
  Tensor& ints = call.make(ScalarType::kInt, {1, 1, 2, 2});
  EXPECT_TRUE(fails(max_pool(self, {2}, {}, 0, 1, false, out, ints), kBad, "indices"));
  Tensor& flat = call.make<float>({4, 4}, std::vector<float>(16));
  EXPECT_TRUE(fails(max_pool(flat, {2}, {}, 0, 1, false, out, indices), kBad, "[N,C,H,W]"));
}

TEST_F(Pooling, AverageIncludesPaddingIfRequested) {
  Tensor& self = image(2, 2);
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 2});
  ASSERT_TRUE(succeeds(avg_pool(self, {2}, {2}, 1, false, true, call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0.25f, 0.5f, 0.75f, 1.0f));
  ASSERT_TRUE(succeeds(avg_pool(self, {2}, {2}, 1, false, false, call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3, 4));
  ASSERT_TRUE(succeeds(avg_pool(self, {2}, {2}, 1, false, false, EValue(int64_t{2}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0.5f, 1, 1.5f, 2));
  EXPECT_TRUE(fails(avg_pool(self, {2}, {2}, 1, false, true, EValue(int64_t{0}), out), kBad,
                    "divisor_override"));
}

TEST_F(Pooling, AverageDividesLastWindowByItsElementCount) {
  // Positions beyond the padded input do not count, so the last window of three has two elements.
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 2});
  ASSERT_TRUE(succeeds(avg_pool(image(1, 5), {1, 3}, {1, 3}, 0, true, true, call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 4.5f));
}

TEST_F(Pooling, AverageOfIntegersRoundsTowardZero) {
  Tensor& self = call.make<int64_t>({1, 1, 2}, {-3, 0});
  Tensor& out = call.make(ScalarType::kLong, {1, 1, 1});
  ASSERT_TRUE(succeeds(avg_pool(self, {1, 2}, {}, 0, false, true, call.none(), out)));
  EXPECT_EQ(out.data<int64_t>()[0], -1);
}

TEST_F(Pooling, AdaptiveWindowsMayOverlap) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 2});
  ASSERT_TRUE(
      succeeds(call.run("aten::_adaptive_avg_pool2d.out", image(1, 5), call.ints({1, 2}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 4));  // 0..3 and 2..5
  Tensor& indices = call.make(ScalarType::kLong, {1, 1, 1, 2});
  ASSERT_TRUE(succeeds(
      call.run("aten::adaptive_max_pool2d.out", image(1, 5), call.ints({1, 2}), out, indices)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 5));
  EXPECT_THAT(values_of<int64_t>(indices), ElementsAre(2, 4));
  EXPECT_FALSE(
      call.run("aten::_adaptive_avg_pool2d.out", image(1, 5), call.ints({0, 2}), out).ok());
}

TEST_F(Pooling, MaxBackwardAddsGradientsOfOverlappingWindows) {
  Tensor& self = image(1, 3);
  Tensor& gradient = call.make<float>({1, 1, 1, 2}, {10, 20});
  Tensor& indices = call.make<int64_t>({1, 1, 1, 2}, {1, 1});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 3});
  const auto run = [&] {
    return call.run("aten::max_pool2d_with_indices_backward.grad_input", gradient, self,
                    call.ints({1, 2}), call.ints({1, 1}), call.ints({0}), call.ints({1}), false,
                    indices, out);
  };
  ASSERT_TRUE(succeeds(run()));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 30, 0));
  indices.mutable_data<int64_t>()[0] = 3;
  EXPECT_TRUE(fails(run(), kBad, "index 3"));
}

}  // namespace
}  // namespace vitrine::test
