// Tests pooling: windows, padding, ties, NaN and memory formats.

#include <limits>

#include "test/kernels/kernel_cases.h"
#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

const std::string kMaxPool = "aten::max_pool2d_with_indices.out";
const std::string kAvgPool = "aten::avg_pool2d.out";
const std::string kImage44 = "f32[1,1,4,4]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16} ";

TEST(Pooling, MaxUsesKernelSizeAsDefaultStride) {
  check_kernel(kMaxPool, {{"f32[1,1,4,5]{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20} "
                           "[2] [] [0] [1] false !f32[1,1,2,2] !i64[1,1,2,2]",
                           "7,9,17,19 6,8,16,18"}});
}

TEST(Pooling, MaxAppliesPaddingDilationAndCeilMode) {
  // In the first case, each window has 3 x 3 taps with dilation 2. The first window covers the rows
  // and columns -1, 1 and 3, so its largest element is at (3, 3).
  check_kernel(kMaxPool,
               {{kImage44 + "[3] [2] [1] [2] true !f32[1,1,2,2] !i64[1,1,2,2]", "16,16,16,16 ?"},
                {"f32[1,1,1,5]{1,2,3,4,5} [1,2] [1,2] [0] [1] true !f32[1,1,1,3] !i64[1,1,1,3]",
                 "2,4,5 ?"}});
}

TEST(Pooling, CeilModeAllowsWindowBeyondInput) {
  const std::string image = "f32[1,1,1,3]{1,2,3} ";
  check_kernel(kMaxPool,
               {{image + "[1,2] [1,2] [0] [1] true !f32[1,1,1,2] !i64[1,1,1,2]", "2,3 ?"}});
  check_kernel(kAvgPool, {{image + "[2] [2] [0] true false none !f32[1,1,1,2]", "1.5,3"},
                          {image + "[1,5] [2] [0] true false none !f32[1,1,1,1]",
                           "error: a window of 5 elements"}});
}

// The taps are at rows -2147483 and 2147483. In the latter row, the indices of some elements exceed
// the range of int32.
TEST(Pooling, MaxReturnsMinusInfinityForWindowsOutsideImage) {
  EXPECT_STREQ(optimized_kernels().find(kMaxPool).table, "optimized");
  KernelCall call;
  for (const KernelRegistry* registry :
       {static_cast<const KernelRegistry*>(nullptr), &optimized_kernels()}) {
    call.registry = registry;
    Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1000});
    Tensor& indices = call.output_of(
        ScalarType::kLong, {1, 1, 1, 1000}, "aten::max_pool2d_with_indices.out",
        call.make<float>({1, 1, 1, 1000}, count_up(1000)), call.ints({2, 1}), call.ints({1, 1}),
        call.ints({2147483, 0}), call.ints({4294966, 1}), false, out);
    for (int64_t x = 0; x < 1000; ++x) {
      EXPECT_EQ(out.data<float>()[x], -std::numeric_limits<float>::infinity());
      EXPECT_EQ(indices.data<int64_t>()[x], 2147483000 + x);
    }
  }
}

TEST(Pooling, MaxReturnsNanOrTheFirstOfEqualElements) {
  check_kernel(kMaxPool, {{"f32[1,1,6]{3,3,nan,5,-inf,-inf} [1,2] [1,2] [0] [1] false "
                           "!f32[1,1,3] !i64[1,1,3]",
                           "3,nan,-inf 0,2,4"}});
}

// The image is 2 x 2. Its channels are {1, 2, 3, 4} and {50, 60, 70, 80} in logical order.
TEST(Pooling, ReadsAndWritesChannelsLast) {
  check_kernel(kMaxPool, {{"f32[1,2,2,2]:0231{1,50,2,60,3,70,4,80} [2,1] [1] [0] [1] false "
                           "!f32[1,2,1,2]:0231 !i64[1,2,1,2]",
                           "3,70,4,80 2,3,2,3"}});
}

TEST(Pooling, RejectsInvalidWindows) {
  const std::string out = " false !f32[1,1,2,2] !i64[1,1,2,2]";
  check_kernel(kMaxPool,
               {{kImage44 + "[0] [] [0] [1]" + out, "error: kernel_size"},
                {kImage44 + "[2] [0] [0] [1]" + out, "error: stride"},
                {kImage44 + "[2] [2] [0] [0]" + out, "error: dilation"},
                {kImage44 + "[2] [2] [2] [1]" + out, "error: padding"},
                {kImage44 + "[2] [2] [-1] [1]" + out, "error: padding"},
                {kImage44 + "[5] [1] [0] [1]" + out, "error: window"},
                {kImage44 + "[2] [1] [0] [2147483647]" + out, "error: window"},
                {kImage44 + "[1,1,1] [] [0] [1]" + out, "error: kernel_size"},
                {kImage44 + "[2] [] [0] [1] false !f32[1,1,2,2] !i32[1,1,2,2]", "error: indices"},
                {"f32[4,4] [2] [] [0] [1]" + out, "error: [N,C,H,W]"}});
}

TEST(Pooling, AverageIncludesPaddingIfRequested) {
  const std::string image = "f32[1,1,2,2]{1,2,3,4} [2] [2] [1] false ";
  check_kernel(kAvgPool, {{image + "true none !f32[1,1,2,2]", "0.25,0.5,0.75,1"},
                          {image + "false none !f32[1,1,2,2]", "1,2,3,4"},
                          {image + "false 2 !f32[1,1,2,2]", "0.5,1,1.5,2"},
                          {image + "true 0 !f32[1,1,2,2]", "error: divisor_override"}});
}

TEST(Pooling, AverageDividesLastWindowByItsElementCount) {
  check_kernel(kAvgPool,
               {// Positions beyond the padded input do not count, so the last window of three has
                // two elements.
                {"f32[1,1,1,5]{1,2,3,4,5} [1,3] [1,3] [0] true true none !f32[1,1,1,2]", "2,4.5"},
                // The average of integers is rounded toward zero.
                {"i64[1,1,2]{-3,0} [1,2] [] [0] false true none !i64[1,1,1]", "-1"}});
}

TEST(Pooling, AdaptiveWindowsMayOverlap) {
  const std::string image = "f32[1,1,1,5]{1,2,3,4,5} ";
  check_kernel("aten::_adaptive_avg_pool2d.out",
               {{image + "[1,2] !f32[1,1,1,2]", "2,4"},  // 0..3 and 2..5
                {image + "[0,2] !f32[1,1,1,2]", "error: "}});
  check_kernel("aten::adaptive_max_pool2d.out",
               {{image + "[1,2] !f32[1,1,1,2] !i64[1,1,1,2]", "3,5 2,4"}});
}

TEST(Pooling, MaxBackwardAddsGradientsOfOverlappingWindows) {
  const std::string inputs =
      "f32[1,1,1,2]{10,20} f32[1,1,1,3]{1,2,3} [1,2] [1,1] [0] [1] false i64[1,1,1,2]";
  check_kernel("aten::max_pool2d_with_indices_backward.grad_input",
               {{inputs + "{1,1} !f32[1,1,1,3]", "0,30,0"},
                {inputs + "{3,1} !f32[1,1,1,3]", "error: index 3"}});
}

}  // namespace
}  // namespace vitrine::test
