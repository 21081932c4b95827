// Tests broadcasting, promotion and layouts of element-wise operators, and the formulas of each
// family of operators.
#include <cmath>
#include <limits>

#include "test/kernels/kernel_call.h"

namespace vitrine {
namespace {

using test::fails;
using test::KernelCall;
using test::succeeds;
using test::values_of;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Elementwise, AddsTensorsOfSameShape) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 2}, {1, 2, 3, 4});
  Tensor& b = call.make<float>({2, 2}, {10, 20, 30, 40});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{11, 22, 33, 44}));
}

TEST(Elementwise, ErfOfErfinvReturnsTheInput) {
  KernelCall call;
  const std::vector<double> points = {-0.999, -0.71, -0.3, 0, 0.5, 0.7, 0.9999999};
  Tensor& self = call.make<double>({7}, points);
  Tensor& out = call.make(ScalarType::kDouble, {7});
  ASSERT_TRUE(succeeds(call.run("aten::erfinv.out", self, out)));
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(std::erf(values_of<double>(out)[i]), points[i], 1e-15) << points[i];
  }
  Tensor& edges = call.make<float>({5}, {-1, 1, -1.5f, 2, kNan});
  Tensor& results = call.make(ScalarType::kFloat, {5});
  ASSERT_TRUE(succeeds(call.run("aten::erfinv.out", edges, results)));
  EXPECT_EQ(values_of<float>(results)[0], -kInfinity);
  EXPECT_EQ(values_of<float>(results)[1], kInfinity);
  for (size_t i = 2; i < 5; ++i) EXPECT_TRUE(std::isnan(values_of<float>(results)[i])) << i;
}

TEST(Elementwise, BroadcastsBothOperands) {
  KernelCall call;
  Tensor& column = call.make<float>({2, 1}, {1, 2});
  Tensor& row = call.make<float>({3}, {10, 20, 30});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::sub.out", column, row, 1, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{-9, -19, -29, -8, -18, -28}));
}

TEST(Elementwise, BroadcastsSizesZeroAndOneToZero) {
  KernelCall call;
  Tensor& empty = call.make(ScalarType::kFloat, {0, 3});
  Tensor& one = call.make<float>({1, 1}, {1});
  Tensor& out = call.make(ScalarType::kFloat, {0, 3});
  EXPECT_TRUE(succeeds(call.run("aten::add.out", empty, one, 1, out)));
}

TEST(Elementwise, SupportsContiguousRunsLongerThanTheBuffer) {
  KernelCall call;
  const size_t count = 1000;
  std::vector<int32_t> ints(count);
  std::vector<float> floats(count);
  std::vector<float> expected(count);
  for (size_t i = 0; i < count; ++i) {
    ints[i] = static_cast<int32_t>(i);
    floats[i] = 0.5f;
    expected[i] = static_cast<float>(i) + 0.5f;
  }
  Tensor& a = call.make<int32_t>({1000}, ints);
  Tensor& b = call.make<float>({1000}, floats);
  Tensor& out = call.make(ScalarType::kFloat, {1000});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(values_of<float>(out), expected);
}

TEST(Elementwise, AcceptsMixedDimOrders) {
  KernelCall call;
  // Both tensors have the shape [1,2,2,2]. `a` is row-major, and `b` is channels-last. In logical
  // order, the values are 0..7 and 0,10,..,70.
  Tensor& a = call.make<float>({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  Tensor& b = call.make<float>({1, 2, 2, 2}, {0, 40, 10, 50, 20, 60, 30, 70}, {0, 2, 3, 1});
  Tensor& row_major = call.make(ScalarType::kFloat, {1, 2, 2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, row_major)));
  EXPECT_EQ(values_of<float>(row_major), (std::vector<float>{0, 11, 22, 33, 44, 55, 66, 77}));
  Tensor& channels_last = call.make(ScalarType::kFloat, {1, 2, 2, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, channels_last)));
  EXPECT_EQ(values_of<float>(channels_last), (std::vector<float>{0, 44, 11, 55, 22, 66, 33, 77}));
}

TEST(Elementwise, ResizesDynamicOutput) {
  KernelCall call;
  Tensor& a = call.make<float>({2}, {1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {5}, {}, ShapeDynamism::kDynamicBound);
  ASSERT_TRUE(succeeds(call.run("aten::neg.out", a, out)));
  EXPECT_EQ(out.size(0), 2);
}

TEST(Elementwise, AcceptsInputAsOutput) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {1, 2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::mul.out", a, a, a)));
  EXPECT_EQ(values_of<float>(a), (std::vector<float>{1, 4, 9}));
}

TEST(Elementwise, RejectsShapesThatDoNotBroadcast) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {2});
  Tensor& b = call.make(ScalarType::kFloat, {3});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  EXPECT_TRUE(fails(call.run("aten::add.out", a, b, 1, out), ErrorCode::kInvalidArgument,
                    "do not broadcast"));
}

TEST(Elementwise, RejectsStaticOutputWithADifferentShape) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {2});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  EXPECT_TRUE(fails(call.run("aten::neg.out", a, out), ErrorCode::kNotSupported, "static"));
}

TEST(Elementwise, RejectsIntegerOutputForFloatResult) {
  KernelCall call;
  Tensor& a = call.make<float>({1}, {1});
  Tensor& out = call.make(ScalarType::kInt, {1});
  EXPECT_TRUE(fails(call.run("aten::add.out", a, a, 1, out), ErrorCode::kInvalidArgument,
                    "cannot be stored as"));
}

TEST(Elementwise, RejectsUnsupportedDtype) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kUInt16, {1});
  Tensor& out = call.make(ScalarType::kUInt16, {1});
  EXPECT_TRUE(fails(call.run("aten::add.out", a, a, 1, out), ErrorCode::kInvalidArgument, "dtype"));
}

TEST(Elementwise, TreatsAnyNonZeroBoolByteAsTrue) {
  KernelCall call;
  Tensor& a = call.make<uint8_t>({3}, {0, 1, 2});
  Tensor& as_bool = call.make(ScalarType::kBool, {3});
  std::copy_n(a.unchecked_data<uint8_t>(), 3, as_bool.unchecked_mutable_data<uint8_t>());
  Tensor& out = call.make(ScalarType::kBool, {3});
  ASSERT_TRUE(succeeds(call.run("aten::logical_not.out", as_bool, out)));
  EXPECT_EQ(values_of<bool>(out), (std::vector<bool>{true, false, false}));
}

// --- Promotion ---

TEST(Elementwise, PromotesIntegersOfDifferentWidth) {
  KernelCall call;
  Tensor& a = call.make<uint8_t>({1}, {200});
  Tensor& b = call.make<int8_t>({1}, {-100});
  Tensor& out = call.make(ScalarType::kShort, {1});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(values_of<int16_t>(out), (std::vector<int16_t>{100}));
}

TEST(Elementwise, ComputesF16InF32) {
  KernelCall call;
  // In Half, 2048 + 1 and 2050 + 1 are ties, which round to the even 2048 and 2052.
  Tensor& a = call.make<Half>({2}, {Half(2048), Half(2050)});
  Tensor& b = call.make<Half>({2}, {Half(1), Half(1)});
  Tensor& out = call.make(ScalarType::kHalf, {2});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(static_cast<float>(values_of<Half>(out)[0]), 2048.0f);
  EXPECT_EQ(static_cast<float>(values_of<Half>(out)[1]), 2052.0f);
}

TEST(Elementwise, RoundsIntegerToF16BeforeAdding) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({1}, {2049});  // 2048 as Half
  Tensor& b = call.make<Half>({1}, {Half(1)});
  Tensor& out = call.make(ScalarType::kFloat, {1});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(values_of<float>(out)[0], 2048.0f);
}

TEST(Elementwise, PromotesF16AndBf16ToF32) {
  KernelCall call;
  Tensor& a = call.make<Half>({1}, {Half(1.0009765625f)});
  Tensor& b = call.make<BFloat16>({1}, {BFloat16(256)});
  Tensor& out = call.make(ScalarType::kFloat, {1});
  ASSERT_TRUE(succeeds(call.run("aten::add.out", a, b, 1, out)));
  EXPECT_EQ(values_of<float>(out)[0], 257.0009765625f);
}

TEST(Elementwise, PromotesIntegersWithFloatScalarToF32) {
  KernelCall call;
  Tensor& a = call.make<int64_t>({2}, {1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::mul.Scalar_out", a, 0.5, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{0.5f, 1.0f}));
}

TEST(Elementwise, PromotesBoolWithIntegerScalarToI64) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kBool, {2});
  a.mutable_data<bool>()[0] = false;
  a.mutable_data<bool>()[1] = true;
  Tensor& out = call.make(ScalarType::kLong, {2});
  ASSERT_TRUE(succeeds(call.run("aten::mul.Scalar_out", a, 3, out)));
  EXPECT_EQ(values_of<int64_t>(out), (std::vector<int64_t>{0, 3}));
}

TEST(Elementwise, ComparesF64AndF32AsF64) {
  KernelCall call;
  Tensor& a = call.make<double>({1}, {16777217.0});
  Tensor& b = call.make<float>({1}, {16777216.0f});
  Tensor& out = call.make(ScalarType::kBool, {1});
  ASSERT_TRUE(succeeds(call.run("aten::gt.Tensor_out", a, b, out)));
  EXPECT_TRUE(values_of<bool>(out)[0]);
}

// --- Formulas ---

TEST(Elementwise, WrapsIntegersAround) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({2}, {std::numeric_limits<int32_t>::max(), 3});
  Tensor& out = call.make(ScalarType::kInt, {2});
  ASSERT_TRUE(succeeds(call.run("aten::add.Scalar_out", a, 1, 1, out)));
  EXPECT_EQ(values_of<int32_t>(out),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), 4}));
  ASSERT_TRUE(succeeds(call.run("aten::neg.out", out, out)));
  EXPECT_EQ(values_of<int32_t>(out)[0], std::numeric_limits<int32_t>::min());
}

TEST(Elementwise, RejectsFloatAlphaForIntegers) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({1}, {1});
  Tensor& out = call.make(ScalarType::kInt, {1});
  EXPECT_TRUE(
      fails(call.run("aten::add.out", a, a, 0.5, out), ErrorCode::kInvalidArgument, "alpha"));
}

TEST(Elementwise, DividesIntegersInEveryRoundingMode) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({4}, {7, -7, 7, -7});
  Tensor& b = call.make<int32_t>({4}, {2, 2, -2, -2});
  Tensor& out = call.make(ScalarType::kInt, {4});
  const auto result = [&] { return values_of<int32_t>(out); };
  ASSERT_TRUE(succeeds(call.run("aten::floor_divide.out", a, b, out)));
  EXPECT_EQ(result(), (std::vector<int32_t>{3, -4, -4, 3}));
  ASSERT_TRUE(succeeds(call.run("aten::div.out_mode", a, b, "trunc", out)));
  EXPECT_EQ(result(), (std::vector<int32_t>{3, -3, -3, 3}));
  ASSERT_TRUE(succeeds(call.run("aten::remainder.Tensor_out", a, b, out)));
  EXPECT_EQ(result(), (std::vector<int32_t>{1, 1, -1, -1}));
  ASSERT_TRUE(succeeds(call.run("aten::fmod.Tensor_out", a, b, out)));
  EXPECT_EQ(result(), (std::vector<int32_t>{1, -1, 1, -1}));
  Tensor& quotient = call.make(ScalarType::kFloat, {4});
  ASSERT_TRUE(succeeds(call.run("aten::div.out", a, b, quotient)));
  EXPECT_EQ(values_of<float>(quotient), (std::vector<float>{3.5f, -3.5f, -3.5f, 3.5f}));
}

TEST(Elementwise, LogaddexpAndXlogyHandleZeroInfinityAndNan) {
  KernelCall call;
  Tensor& a = call.make<float>({6}, {0, 2, 0, kInfinity, -kInfinity, 1000});
  Tensor& b = call.make<float>({6}, {0, 3, kNan, kInfinity, -kInfinity, 999});
  Tensor& out = call.make(ScalarType::kFloat, {6});
  ASSERT_TRUE(succeeds(call.run("aten::logaddexp.out", a, b, out)));
  std::vector<float> found = values_of<float>(out);
  EXPECT_FLOAT_EQ(found[0], std::log(2.0f));
  EXPECT_FLOAT_EQ(found[1], std::log(std::exp(2.0f) + std::exp(3.0f)));
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_EQ(found[3], kInfinity);
  EXPECT_EQ(found[4], -kInfinity);
  EXPECT_FLOAT_EQ(found[5], 1000 + std::log(1 + std::exp(-1.0f)));
  ASSERT_TRUE(succeeds(call.run("aten::xlogy.OutTensor", a, b, out)));
  found = values_of<float>(out);
  EXPECT_EQ(found[0], 0) << "x is 0, so the infinite logarithm is ignored";
  EXPECT_FLOAT_EQ(found[1], 2 * std::log(3.0f));
  EXPECT_TRUE(std::isnan(found[2]));
}

TEST(Elementwise, SigmoidBackwardMatchesDifferenceQuotient) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<double> points = {-3, -0.5, 0, 1, 4};
  std::vector<float> results;
  for (const double x : points) results.push_back(static_cast<float>(sigmoid(x)));
  KernelCall call;
  Tensor& gradient = call.make<float>({1}, {2});
  Tensor& y = call.make<float>({5}, results);
  Tensor& out = call.make(ScalarType::kFloat, {5});
  ASSERT_TRUE(succeeds(call.run("aten::sigmoid_backward.grad_input", gradient, y, out)));
  const std::vector<float> found = values_of<float>(out);
  for (size_t i = 0; i < points.size(); ++i) {
    const double slope = (sigmoid(points[i] + 1e-4) - sigmoid(points[i] - 1e-4)) / 2e-4;
    EXPECT_NEAR(found[i], 2 * slope, 1e-6) << points[i];
  }
}

TEST(Elementwise, WrapsMinimumIntegerDividedByMinusOne) {
  KernelCall call;
  Tensor& a = call.make<int64_t>({1}, {std::numeric_limits<int64_t>::min()});
  Tensor& out = call.make(ScalarType::kLong, {1});
  ASSERT_TRUE(succeeds(call.run("aten::div.Scalar_mode_out", a, -1, "floor", out)));
  EXPECT_EQ(values_of<int64_t>(out)[0], std::numeric_limits<int64_t>::min());
  ASSERT_TRUE(succeeds(call.run("aten::remainder.Scalar_out", a, -1, out)));
  EXPECT_EQ(values_of<int64_t>(out)[0], 0);
}

TEST(Elementwise, RejectsIntegerDivisionByZero) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({2}, {7, 8});
  Tensor& b = call.make<int32_t>({2}, {0, 2});
  Tensor& out = call.make(ScalarType::kInt, {2});
  for (const char* name :
       {"aten::floor_divide.out", "aten::fmod.Tensor_out", "aten::remainder.Tensor_out"}) {
    EXPECT_TRUE(fails(call.run(name, a, b, out), ErrorCode::kInvalidArgument, "by zero")) << name;
    EXPECT_EQ(values_of<int32_t>(out)[0], 0);
  }
}

TEST(Elementwise, FloorDividesFloats) {
  KernelCall call;
  Tensor& a = call.make<float>({5}, {7.5f, -7.5f, 1.0f, -1.0f, 0.3f});
  Tensor& b = call.make<float>({5}, {2.0f, 2.0f, 0.0f, 0.0f, 0.1f});
  Tensor& out = call.make(ScalarType::kFloat, {5});
  ASSERT_TRUE(succeeds(call.run("aten::div.out_mode", a, b, "floor", out)));
  // 0.3f / 0.1f is just above 3: 0.300000012 / 0.100000001.
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{3, -4, kInfinity, -kInfinity, 3}));
  EXPECT_TRUE(fails(call.run("aten::div.out_mode", a, b, "up", out), ErrorCode::kInvalidArgument,
                    "rounding_mode"));
}

TEST(Elementwise, PropagatesNan) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {kNan, 1, 2});
  Tensor& b = call.make<float>({3}, {0, kNan, 3});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  for (const char* name : {"aten::maximum.out", "aten::minimum.out"}) {
    ASSERT_TRUE(succeeds(call.run(name, a, b, out)));
    EXPECT_TRUE(std::isnan(values_of<float>(out)[0])) << name;
    EXPECT_TRUE(std::isnan(values_of<float>(out)[1])) << name;
  }
  ASSERT_TRUE(succeeds(call.run("aten::relu.out", a, out)));
  EXPECT_TRUE(std::isnan(values_of<float>(out)[0]));
  ASSERT_TRUE(succeeds(call.run("aten::hardtanh.out", a, -1, 1, out)));
  EXPECT_TRUE(std::isnan(values_of<float>(out)[0]));
  ASSERT_TRUE(succeeds(call.run("aten::clamp.out", a, 0.0, call.none(), out)));
  EXPECT_TRUE(std::isnan(values_of<float>(out)[0]));
  ASSERT_TRUE(succeeds(call.run("aten::sign.out", a, out)));
  EXPECT_EQ(values_of<float>(out)[0], 0.0f);
}

TEST(Elementwise, ClampReturnsMaxIfMinExceedsMax) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {-9, 0, 9});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(succeeds(call.run("aten::clamp.out", a, 5.0, -5.0, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{-5, -5, -5}));
  EXPECT_FALSE(call.run("aten::clamp.out", a, call.none(), call.none(), out).ok());
}

TEST(Elementwise, ClampRejectsBoundThatTheDtypeCannotHold) {
  KernelCall call;
  Tensor& a = call.make<int8_t>({1}, {1});
  Tensor& out = call.make(ScalarType::kChar, {1});
  EXPECT_TRUE(fails(call.run("aten::clamp.out", a, 0, 300, out), ErrorCode::kInvalidArgument,
                    "max is 300"));
}

TEST(Elementwise, OutOfRangeShiftCountShiftsOutAllBits) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({4}, {-8, -8, 8, 8});
  Tensor& bits = call.make<int32_t>({4}, {1, 40, -1, 31});
  Tensor& out = call.make(ScalarType::kInt, {4});
  ASSERT_TRUE(succeeds(call.run("aten::bitwise_right_shift.Tensor_out", a, bits, out)));
  EXPECT_EQ(values_of<int32_t>(out), (std::vector<int32_t>{-4, -1, 0, 0}));
  ASSERT_TRUE(succeeds(call.run("aten::bitwise_left_shift.Tensor_out", a, bits, out)));
  EXPECT_EQ(values_of<int32_t>(out), (std::vector<int32_t>{-16, 0, 0, 0}));
}

TEST(Elementwise, RoundsTiesToEven) {
  KernelCall call;
  Tensor& a = call.make<float>({4}, {0.5f, 1.5f, 2.5f, -0.5f});
  Tensor& out = call.make(ScalarType::kFloat, {4});
  ASSERT_TRUE(succeeds(call.run("aten::round.out", a, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{0, 2, 2, -0.0f}));
}

TEST(Elementwise, ComputesIntegerPowers) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({4}, {3, -1, 2, 1});
  Tensor& exponent = call.make<int32_t>({4}, {4, -3, -1, -5});
  Tensor& out = call.make(ScalarType::kInt, {4});
  ASSERT_TRUE(succeeds(call.run("aten::pow.Tensor_Tensor_out", a, exponent, out)));
  EXPECT_EQ(values_of<int32_t>(out), (std::vector<int32_t>{81, -1, 0, 1}));
  EXPECT_FALSE(call.run("aten::pow.Tensor_Scalar_out", a, -2, out).ok());
}

TEST(Elementwise, AtenWhereAcceptsBoolAndByteConditions) {
  KernelCall call;
  Tensor& condition = call.make<uint8_t>({2, 1}, {0, 7});
  Tensor& a = call.make<int32_t>({2}, {1, 2});
  Tensor& b = call.make<float>({1}, {-0.5f});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::where.self_out", condition, a, b, out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{-0.5f, -0.5f, 1, 2}));
  EXPECT_FALSE(call.run("aten::where.self_out", b, a, b, out).ok());
}

TEST(Elementwise, IsnanAndIsinfReturnFalseForIntegers) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {kNan, kInfinity, 1});
  Tensor& integers = call.make<int64_t>({3}, {1, std::numeric_limits<int64_t>::max(), 0});
  Tensor& out = call.make(ScalarType::kBool, {3});
  ASSERT_TRUE(succeeds(call.run("aten::isnan.out", a, out)));
  EXPECT_EQ(values_of<bool>(out), (std::vector<bool>{true, false, false}));
  ASSERT_TRUE(succeeds(call.run("aten::isinf.out", a, out)));
  EXPECT_EQ(values_of<bool>(out), (std::vector<bool>{false, true, false}));
  ASSERT_TRUE(succeeds(call.run("aten::isinf.out", integers, out)));
  EXPECT_EQ(values_of<bool>(out), (std::vector<bool>{false, false, false}));
}

TEST(Elementwise, GeluRejectsUnknownApproximation) {
  KernelCall call;
  Tensor& a = call.make<float>({2}, {1, -1});
  Tensor& out = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::gelu.out", a, "none", out)));
  EXPECT_NEAR(values_of<float>(out)[0], 0.8413447f, 1e-6f);  // x * Phi(x)
  EXPECT_NEAR(values_of<float>(out)[1], -0.1586553f, 1e-6f);
  EXPECT_TRUE(fails(call.run("aten::gelu.out", a, "sigmoid", out), ErrorCode::kInvalidArgument,
                    "approximate"));
}

}  // namespace
}  // namespace vitrine
