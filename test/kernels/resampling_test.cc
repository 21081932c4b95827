// Upsampling, against values computed by hand from the formulas of the coordinates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::Pointwise;

constexpr auto kBad = ErrorCode::kInvalidArgument;

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

}  // namespace
}  // namespace vitrine::test
