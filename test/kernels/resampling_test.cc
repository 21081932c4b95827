// Upsampling, against values computed by hand from the formulas of the coordinates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

class Upsample : public testing::Test {
 protected:
  KernelCall call;
  Tensor& line = call.make<float>({1, 1, 1, 2}, {0, 4});
  const double factors_[2] = {1.0, 2.0};
  const EValue factors = EValue(std::span<const double>(factors_));
};

TEST_F(Upsample, BilinearBetweenCenters) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 4});
  ASSERT_TRUE(succeeds(call.run("aten::upsample_bilinear2d.vec_out", line, call.ints({1, 4}), false,
                                call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 3, 4));
  ASSERT_TRUE(succeeds(
      call.run("aten::upsample_bilinear2d.vec_out", line, call.none(), false, factors, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 3, 4));
}

// 4.8 elements are 4: a size that stays is copied, whatever the factor (PyTorch's
// compute_source_index_and_lambda).
TEST_F(Upsample, BilinearCopiesAlongASizeThatStays) {
  KernelRegistry optimized;
  ASSERT_TRUE(optimized.add("optimized", optimized::kernels()).ok());
  Tensor& self = call.make<float>({1, 1, 1, 4}, {0, 1, 2, 3});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 4});
  const double numbers[] = {2.0, 1.2};
  for (const KernelRegistry* registry : {static_cast<const KernelRegistry*>(nullptr),
                                         static_cast<const KernelRegistry*>(&optimized)}) {
    call.registry = registry;
    ASSERT_TRUE(succeeds(call.run("aten::upsample_bilinear2d.vec_out", self, call.none(), false,
                                  EValue(std::span<const double>(numbers)), out)));
    EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  }
}

// Both of its elements are the one at its place, with weights 1 and 0: 0 * inf is NaN, but next to
// it nothing is.
TEST_F(Upsample, BilinearReadsNoNeighbourAlongASizeThatStays) {
  KernelRegistry optimized;
  ASSERT_TRUE(optimized.add("optimized", optimized::kernels()).ok());
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const bool align_corners : {false, true}) {
    for (const KernelRegistry* registry : {static_cast<const KernelRegistry*>(nullptr),
                                           static_cast<const KernelRegistry*>(&optimized)}) {
      call.registry = registry;
      for (const bool is_column : {false, true}) {
        const std::vector<int32_t> sizes = {1, 1, is_column ? 3 : 1, is_column ? 1 : 3};
        const std::vector<int64_t> resized = {is_column ? 3 : 2, is_column ? 2 : 3};
        Tensor& self = call.make<float>(sizes, {1, kInf, 2});
        Tensor& out = call.make(ScalarType::kFloat, {1, 1, static_cast<int32_t>(resized[0]),
                                                     static_cast<int32_t>(resized[1])});
        ASSERT_TRUE(succeeds(call.run("aten::upsample_bilinear2d.vec_out", self, call.ints(resized),
                                      align_corners, call.none(), out)));
        const auto found = values_of<float>(out);
        for (const size_t copy : {0, 1}) {
          const auto at = [&](size_t i) { return found[is_column ? 2 * i + copy : 3 * copy + i]; };
          EXPECT_EQ(at(0), 1) << align_corners << is_column;
          EXPECT_EQ(at(2), 2) << align_corners << is_column;
        }
      }
    }
  }
}

TEST_F(Upsample, BilinearBetweenCorners) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 5});
  ASSERT_TRUE(succeeds(call.run("aten::upsample_bilinear2d.vec_out", line, call.ints({1, 5}), true,
                                call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(Upsample, NearestRepeats) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 2, 3});
  ASSERT_TRUE(succeeds(
      call.run("aten::upsample_nearest2d.vec_out", line, call.ints({2, 3}), call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 4, 0, 0, 4));
}

TEST_F(Upsample, NearestKeepsChannelsLast) {
  Tensor& self = call.make<float>({1, 2, 1, 2}, {1, 10, 2, 20}, {0, 2, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 1, 4}, {0, 2, 3, 1});
  ASSERT_TRUE(
      succeeds(call.run("aten::upsample_nearest2d.vec_out", self, call.none(), factors, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 10, 1, 10, 2, 20, 2, 20));
}

TEST_F(Upsample, AntialiasedHalvesAverageWithATriangle) {
  // Scale 2: support 2, center 1 and 3; weights of distance 0.5 are 3/4, of 1.5 are 1/4.
  Tensor& self = call.make<float>({1, 1, 1, 4}, {0, 8, 16, 24});
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::_upsample_bilinear2d_aa.out", self, call.ints({1, 2}), false,
                                call.none(), call.none(), out)));
  const std::vector<float> expected{(0 * 3 + 8 * 3 + 16 * 1) / 7.0f,
                                    (8 * 1 + 16 * 3 + 24 * 3) / 7.0f};
  EXPECT_THAT(values_of<float>(out), Pointwise(FloatEq(), expected));
}

// As a float, the size is one more.
TEST_F(Upsample, AntialiasedReadsNothingPastALongLine) {
  Tensor& self = call.make<uint8_t>({1, 1, 1, 16'777'219}, std::vector<uint8_t>(16'777'219));
  Tensor& out = call.make(ScalarType::kByte, {1, 1, 1, 1});
  EXPECT_TRUE(succeeds(call.run("aten::_upsample_bilinear2d_aa.out", self, call.ints({1, 1}), false,
                                call.none(), call.none(), out)));
  EXPECT_EQ(out.data<uint8_t>()[0], 0);
}

TEST_F(Upsample, RefusesWhatDoesNotFit) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 4});
  const auto run = [&](const EValue& size, const EValue& scales) {
    return call.run("aten::upsample_bilinear2d.vec_out", line, size, false, scales, out);
  };
  EXPECT_TRUE(fails(run(call.none(), call.none()), kBad, "one of"));
  EXPECT_TRUE(fails(run(call.ints({1, 4}), factors), kBad, "one of"));
  EXPECT_TRUE(fails(run(call.ints({4}), call.none()), kBad, "two numbers"));
  EXPECT_TRUE(fails(run(call.ints({0, 4}), call.none()), kBad, "cannot become"));
  for (const double bad : {0.0, -1.0, 1e300, double(NAN)}) {
    const double numbers[] = {1.0, bad};
    EXPECT_TRUE(
        fails(run(call.none(), EValue(std::span<const double>(numbers))), kBad, "cannot become"));
  }
}

class GridSampler : public testing::Test {
 protected:
  KernelCall call;
  Tensor& image = call.make<float>({1, 1, 1, 4}, {1, 2, 3, 4});

  // The sample at horizontal place x, -1 .. 1, in the middle of the height.
  float sample(float x, int64_t interpolation, int64_t padding, bool align_corners) {
    Tensor& grid = call.make<float>({1, 1, 1, 2}, {x, 0});
    Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1});
    EXPECT_TRUE(succeeds(call.run("aten::grid_sampler_2d.out", image, grid, interpolation, padding,
                                  align_corners, out)));
    return out.data<float>()[0];
  }
};

TEST_F(GridSampler, BilinearBetweenElements) {
  EXPECT_FLOAT_EQ(sample(0, 0, 0, true), 2.5f);  // place 1.5
  EXPECT_FLOAT_EQ(sample(1, 0, 0, true), 4);
  EXPECT_FLOAT_EQ(sample(1, 0, 0, false), 2);  // place 3.5: half of it is padding
  EXPECT_FLOAT_EQ(sample(1, 0, 1, false), 4);
  EXPECT_FLOAT_EQ(sample(-1.5f, 0, 0, false), 0);  // place -1.5
}

TEST_F(GridSampler, NearestRoundsToEven) {
  EXPECT_FLOAT_EQ(sample(0, 1, 0, true), 3);             // place 1.5
  EXPECT_FLOAT_EQ(sample(-2.0f / 3.0f, 1, 0, true), 1);  // place 0.5
  EXPECT_FLOAT_EQ(sample(5, 1, 0, true), 0);
  EXPECT_FLOAT_EQ(sample(5, 1, 1, true), 4);
}

TEST_F(GridSampler, ReflectsAtBordersOrCenters) {
  EXPECT_FLOAT_EQ(sample(5.0f / 3.0f, 1, 2, true), 3);  // place 4: mirrored at 3 to 2
  EXPECT_FLOAT_EQ(sample(1.25f, 1, 2, false), 4);       // place 4: mirrored at 3.5 to 3
}

TEST_F(GridSampler, BicubicKeepsLines) {
  // Inside, cubic convolution reproduces a straight line.
  EXPECT_FLOAT_EQ(sample(0, 2, 1, true), 2.5f);
  EXPECT_FLOAT_EQ(sample(1.0f / 3.0f, 2, 1, true), 3);
}

// As a float, the last place of the line is one past it, where PyTorch finds zeros.
TEST_F(GridSampler, ReadsNothingPastALongLine) {
  Tensor& line = call.make<Half>({1, 1, 1, 16'777'220}, std::vector<Half>(16'777'220));
  Tensor& grid = call.make<Half>({1, 1, 1, 2}, {Half(1.0F), Half(0.0F)});
  for (int64_t mode = 0; mode < 3; ++mode) {
    for (int64_t padding = 0; padding < 3; ++padding) {
      Tensor& out = call.make<Half>({1, 1, 1, 1}, {Half(1.0F)});
      EXPECT_TRUE(
          succeeds(call.run("aten::grid_sampler_2d.out", line, grid, mode, padding, true, out)));
      EXPECT_EQ(float(out.data<Half>()[0]), 0);
    }
  }
}

TEST_F(GridSampler, SurvivesEveryPlace) {
  for (const float x : {NAN, INFINITY, -INFINITY, 3e38f, -3e38f}) {
    for (int64_t mode = 0; mode < 3; ++mode) {
      for (int64_t padding = 0; padding < 3; ++padding) {
        (void)sample(x, mode, padding, mode == 0);
      }
    }
  }
  Tensor& out = call.make(ScalarType::kFloat, {1, 1, 1, 1});
  Tensor& grid = call.make<float>({1, 1, 1, 2}, {0, 0});
  EXPECT_FALSE(call.run("aten::grid_sampler_2d.out", image, grid, 3, 0, true, out).ok());
  Tensor& three = call.make<float>({1, 1, 1, 3}, {0, 0, 0});
  EXPECT_FALSE(call.run("aten::grid_sampler_2d.out", image, three, 0, 0, true, out).ok());
}

}  // namespace
}  // namespace vitrine::test
