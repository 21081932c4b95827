// Tests softmax and normalizations.
#include <cmath>
#include <limits>

#include "test/kernels/kernel_call.h"

namespace vitrine {
namespace {

using test::fails;
using test::KernelCall;
using test::succeeds;
using test::values_of;

void expect_near(const Tensor& tensor, const std::vector<float>& expected,
                 float tolerance = 1e-5f) {
  const std::vector<float> values = values_of<float>(tensor);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

TEST(Softmax, LargeValuesDoNotOverflow) {
  KernelCall call;
  Tensor& a = call.make<float>({1, 2}, {1000, 1000 + std::log(3.0f)});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::_softmax.out", a, -1, false, out)));
  expect_near(out, {0.25f, 0.75f}, 1e-4f);
  ASSERT_TRUE(succeeds(call.run("aten::_log_softmax.out", a, -1, false, out)));
  expect_near(out, {std::log(0.25f), std::log(0.75f)}, 1e-4f);
}

TEST(Softmax, SupportsOuterDimensionLongerThanTheBuffer) {
  KernelCall call;
  Tensor& a = call.make<float>({200, 2}, std::vector<float>(400, 3.0f));
  Tensor& out = call.make(ScalarType::kFloat, {200, 2});
  ASSERT_TRUE(succeeds(call.run("aten::_softmax.out", a, 0, false, out)));
  expect_near(out, std::vector<float>(400, 0.005f), 1e-7f);
}

TEST(Softmax, AcceptsScalarsAndEmptyRowsAndRejectsBadArguments) {
  KernelCall call;
  Tensor& scalar = call.make<float>({}, {5});
  Tensor& one = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(succeeds(call.run("aten::_softmax.out", scalar, 0, false, one)));
  EXPECT_EQ(values_of<float>(one)[0], 1);
  Tensor& empty = call.make(ScalarType::kFloat, {2, 0});
  Tensor& nothing = call.make(ScalarType::kFloat, {2, 0});
  EXPECT_TRUE(succeeds(call.run("aten::_softmax.out", empty, 1, false, nothing)));
  EXPECT_FALSE(call.run("aten::_softmax.out", scalar, 1, false, one).ok());
  Tensor& integers = call.make<int32_t>({}, {5});
  Tensor& integer = call.make(ScalarType::kInt, {});
  EXPECT_FALSE(call.run("aten::_softmax.out", integers, 0, false, integer).ok());
}

TEST(LayerNorm, NormalizesRowsWithWeightAndBias) {
  KernelCall call;
  // The first row has mean 2 and variance 1, and the second row has mean 0 and variance 4.
  Tensor& a = call.make<float>({2, 2}, {1, 3, -2, 2});
  Tensor& weight = call.make<float>({2}, {1, 10});
  Tensor& bias = call.make<float>({2}, {0, 100});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  Tensor& mean = call.make(ScalarType::kFloat, {2, 1});
  Tensor& rstd = call.make(ScalarType::kFloat, {2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::native_layer_norm.out", a, call.ints({2}), weight, bias, 0.0,
                                out, mean, rstd)));
  expect_near(out, {-1, 110, -1, 110});
  expect_near(mean, {2, 0});
  expect_near(rstd, {1, 0.5f});
}

TEST(LayerNorm, RejectsMismatchedShapes) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 2}, {1, 3, -2, 2});
  Tensor& short_weight = call.make<float>({1}, {1});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  Tensor& mean = call.make(ScalarType::kFloat, {2, 1});
  Tensor& rstd = call.make(ScalarType::kFloat, {2, 1});
  const auto run = [&](const EValue& shape, const EValue& weight) {
    return call.run("aten::native_layer_norm.out", a, shape, weight, call.none(), 1e-5, out, mean,
                    rstd);
  };
  EXPECT_FALSE(run(call.ints({}), call.none()).ok());
  EXPECT_FALSE(run(call.ints({3}), call.none()).ok());
  EXPECT_FALSE(run(call.ints({2, 2, 2}), call.none()).ok());
  EXPECT_TRUE(
      fails(run(call.ints({2}), EValue(&short_weight)), ErrorCode::kInvalidArgument, "weight"));
}

TEST(LayerNorm, RejectsInputAsStatisticsOutput) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {2, 2}, {}, ShapeDynamism::kDynamicBound);
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  Tensor& rstd = call.make(ScalarType::kFloat, {2, 1});
  EXPECT_TRUE(fails(call.run("aten::native_layer_norm.out", a, call.ints({2}), call.none(),
                             call.none(), 1e-5, out, a, rstd),
                    ErrorCode::kInvalidProgram, "is also an input of the operator"));
}

TEST(GroupNorm, NormalizesGroupsOfChannels) {
  KernelCall call;
  // One batch has four channels of one element in two groups, {1, 3} and {10, 30}.
  Tensor& a = call.make<float>({1, 4, 1}, {1, 3, 10, 30});
  Tensor& weight = call.make<float>({4}, {1, 2, 1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {1, 4, 1});
  Tensor& mean = call.make(ScalarType::kFloat, {1, 2});
  Tensor& rstd = call.make(ScalarType::kFloat, {1, 2});
  const auto run = [&](int channels, int groups) {
    return call.run("aten::native_group_norm.out", a, weight, call.none(), 1, channels, 1, groups,
                    0.0, out, mean, rstd);
  };
  ASSERT_TRUE(succeeds(run(4, 2)));
  expect_near(out, {-1, 2, -1, 2});
  expect_near(mean, {2, 20});
  expect_near(rstd, {1, 0.1f});
  EXPECT_FALSE(run(4, 0).ok());
  EXPECT_FALSE(run(4, 3).ok());
  EXPECT_FALSE(run(5, 1).ok());
}

class BatchNorm : public testing::Test {
 protected:
  KernelCall call;
  Tensor& weight = call.make<float>({2}, {1, 2});
  Tensor& bias = call.make<float>({2}, {0, 5});
  Tensor& mean = call.make<float>({2}, {1, 10});
  Tensor& variance = call.make<float>({2}, {4, 25});
  Tensor& nothing = call.make(ScalarType::kFloat, {0});

  Error run(Tensor& input, Tensor& out) {
    return call.run("aten::_native_batch_norm_legit_no_training.out", input, weight, bias, mean,
                    variance, 0.1, 0.0, out, nothing, nothing);
  }
};

TEST_F(BatchNorm, NormalizesChannelsInAnyDimOrder) {
  Tensor& a = call.make<float>({1, 2, 1, 2}, {1, 5, 10, 20});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 1, 2});
  ASSERT_TRUE(succeeds(run(a, out)));
  expect_near(out, {0, 2, 5, 9});
  Tensor& last = call.make<float>({1, 2, 1, 2}, {1, 10, 5, 20}, {0, 2, 3, 1});
  Tensor& out_last = call.make(ScalarType::kFloat, {1, 2, 1, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(succeeds(run(last, out_last)));
  expect_near(out_last, {0, 5, 2, 9});
}

TEST_F(BatchNorm, RejectsMismatchedChannels) {
  Tensor& a = call.make(ScalarType::kFloat, {1, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {1, 3, 1});
  EXPECT_TRUE(fails(run(a, out), ErrorCode::kInvalidArgument, "weight"));
  Tensor& flat = call.make(ScalarType::kFloat, {2});
  EXPECT_TRUE(fails(run(flat, flat), ErrorCode::kInvalidArgument, "channel"));
}

TEST_F(BatchNorm, ComputesStatisticsOfTheBatch) {
  Tensor& a = call.make<float>({2, 1, 2}, {1, 3, 5, 7});  // mean 4, variance 5
  Tensor& out = call.make(ScalarType::kFloat, {2, 1, 2});
  Tensor& save_mean = call.make(ScalarType::kFloat, {1});
  Tensor& save_invstd = call.make(ScalarType::kFloat, {1});
  ASSERT_TRUE(succeeds(call.run("aten::_native_batch_norm_legit.no_stats_out", a, call.none(),
                                call.none(), true, 0.1, 4.0, out, save_mean, save_invstd)));
  expect_near(out, {-1, -1.0f / 3, 1.0f / 3, 1});
  expect_near(save_mean, {4});
  expect_near(save_invstd, {1.0f / 3});
}

}  // namespace
}  // namespace vitrine
