// Tests broadcasting, promotion and layouts of element-wise operators, and the formulas of each
// family of operators.
#include <cmath>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(Elementwise, ErfOfErfinvReturnsTheInput) {
  KernelCall call;
  const std::vector<double> points = {-0.999, -0.71, -0.3, 0, 0.5, 0.7, 0.9999999};
  Tensor& self = call.make<double>({7}, points);
  Tensor& out = call.output_of(ScalarType::kDouble, {7}, "aten::erfinv.out", self);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(std::erf(values_of<double>(out)[i]), points[i], 1e-15) << points[i];
  }
  check_kernel("aten::erfinv.out", {{"f32[5]{-1,1,-1.5,2,nan} !f32[5]", "-inf,inf,nan,nan,nan"}});
}

TEST(Elementwise, BroadcastsBothOperands) {
  check_kernel("aten::add.out",
               {{"f32[2,2]{1,2,3,4} f32[2,2]{10,20,30,40} 1 !f32[2,2]", "11,22,33,44"},
                {"f32[0,3] f32[1,1] 1 !f32[0,3]", "empty"},
                {"f32[2] f32[3] 1 !f32[3]", "error: do not broadcast"}});
  check_kernel("aten::sub.out",
               {{"f32[2,1]{1,2} f32[3]{10,20,30} 1 !f32[2,3]", "-9,-19,-29,-8,-18,-28"}});
}

// The tensors are longer than the kernel's conversion buffer (kChunkLength).
TEST(Elementwise, AddsLongTensorsOfDifferentDtypes) {
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
  Tensor& out = call.output_of(ScalarType::kFloat, {1000}, "aten::add.out", a, b, 1);
  EXPECT_EQ(values_of<float>(out), expected);
}

// Both tensors have the shape [1,2,2,2]. The first is row-major, and the second is channels-last.
// In logical order, the values are 0..7 and 0,10,..,70.
TEST(Elementwise, AcceptsMixedDimOrders) {
  const std::string inputs =
      "f32[1,2,2,2]{0,1,2,3,4,5,6,7} f32[1,2,2,2]:0231{0,40,10,50,20,60,30,70} 1 ";
  check_kernel("aten::add.out", {{inputs + "!f32[1,2,2,2]", "0,11,22,33,44,55,66,77"},
                                 {inputs + "!f32[1,2,2,2]:0231", "0,44,11,55,22,66,33,77"}});
}

TEST(Elementwise, ResizesOnlyDynamicOutputs) {
  check_kernel("aten::neg.out", {{"f32[2]{1,2} !~f32[5]", "-1,-2"},
                                 {"f32[2] !f32[3]", "error: static", ErrorCode::kNotSupported}});
}

// If one input has a single element and the other input has the layout of the output, one loop
// covers the whole output.
TEST(Elementwise, BroadcastsOneElementOfAnyRank) {
  check_kernel("aten::add.out",
               {{"i64[1]{9223372036854775807} i64[]{2} 1 !i64[1]", "-9223372036854775807"},
                {"i64[]{2} i64[1,2]{1,-3} 2 !i64[1,2]", "4,-4"},
                {"i64[2]{1,2} i64[1,1]{10} 1 !i64[1,2]", "11,12"},
                {"i64[1]{1} i64[2,1]{10,20} 1 !~i64[3,1]", "11,21"},
                {"i64[]{1} i64[1]{2} 1 !~i64[4]", "3"},
                {"i64[0] i64[]{1} 1 !i64[0]", "empty"},
                {"f16[2]{1,nan} f32[]{0.5} 1 !f32[2]", "1.5,nan"},
                {"i32[2]{1,2} bool[1]{1} 1 !i32[2]", "2,3"},
                {"i64[2]{1,2} i64[]{1} 1 !i64[3]", "error: static", ErrorCode::kNotSupported}});
}

TEST(Elementwise, OutputCanBeTheLargerInput) {
  KernelCall call;
  Tensor& a = call.make<int64_t>({3}, {1, 2, 3});
  Tensor& one = call.make<int64_t>({}, {10});
  ASSERT_TRUE(succeeds(call.run("aten::sub.out", one, a, 1, a)));
  EXPECT_EQ(values_of<int64_t>(a), (std::vector<int64_t>{9, 8, 7}));
  EXPECT_FALSE(succeeds(call.run("aten::sub.out", one, a, 1, one)));
}

TEST(Elementwise, AcceptsInputAsOutput) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {1, 2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::mul.out", a, a, a)));
  EXPECT_EQ(values_of<float>(a), (std::vector<float>{1, 4, 9}));
  ASSERT_TRUE(succeeds(call.run("aten::neg.out", a, a)));
  EXPECT_EQ(values_of<float>(a), (std::vector<float>{-1, -4, -9}));
}

TEST(Elementwise, RejectsUnsupportedDtypes) {
  check_kernel("aten::add.out", {{"f32[1] f32[1] 1 !i32[1]", "error: cannot be stored as"},
                                 {"u16[1] u16[1] 1 !u16[1]", "error: dtype"},
                                 {"i32[1] i32[1] 0.5 !i32[1]", "error: alpha"}});
}

TEST(Elementwise, TreatsAnyNonZeroBoolByteAsTrue) {
  KernelCall call;
  Tensor& a = call.make<uint8_t>({3}, {0, 1, 2});
  Tensor& as_bool = call.make(ScalarType::kBool, {3});
  std::copy_n(a.unchecked_data<uint8_t>(), 3, as_bool.unchecked_mutable_data<uint8_t>());
  Tensor& out = call.output_of(ScalarType::kBool, {3}, "aten::logical_not.out", as_bool);
  EXPECT_EQ(values_of<bool>(out), (std::vector<bool>{true, false, false}));
}

// --- Promotion ---

TEST(Elementwise, PromotesDtypes) {
  check_kernel("aten::add.out",
               {{"u8[1]{200} i8[1]{-100} 1 !i16[1]", "100"},
                // In f16, 2049 and 2051 are ties, which round to even.
                {"f16[2]{2048,2050} f16[2]{1} 1 !f16[2]", "2048,2052"},
                // The integer is rounded to f16 before the addition.
                {"i32[1]{2049} f16[1]{1} 1 !f32[1]", "2048"},
                {"f16[1]{1.0009765625} bf16[1]{256} 1 !f32[1]", "257.0009765625"}});
  check_kernel("aten::mul.Scalar_out",
               {{"i64[2]{1,2} 0.5 !f32[2]", "0.5,1"}, {"bool[2]{0,1} 3 !i64[2]", "0,3"}});
  check_kernel("aten::gt.Tensor_out", {{"f64[1]{16777217} f32[1]{16777216} !bool[1]", "1"}});
}

// --- Formulas ---

TEST(Elementwise, WrapsIntegersAround) {
  check_kernel("aten::add.Scalar_out", {{"i32[2]{2147483647,3} 1 1 !i32[2]", "-2147483648,4"}});
  check_kernel("aten::neg.out", {{"i32[2]{-2147483648,4} !i32[2]", "-2147483648,-4"}});
  check_kernel("aten::div.Scalar_mode_out", {{"i64[1]{min} -1 'floor' !i64[1]", "min"}});
  check_kernel("aten::remainder.Scalar_out", {{"i64[1]{min} -1 !i64[1]", "0"}});
}

TEST(Elementwise, DividesInEveryRoundingMode) {
  const std::string ints = "i32[4]{7,-7,7,-7} i32[4]{2,2,-2,-2} ";
  check_kernel("aten::floor_divide.out", {{ints + "!i32[4]", "3,-4,-4,3"}});
  check_kernel("aten::remainder.Tensor_out", {{ints + "!i32[4]", "1,1,-1,-1"}});
  check_kernel("aten::fmod.Tensor_out", {{ints + "!i32[4]", "1,-1,1,-1"}});
  check_kernel("aten::div.out", {{ints + "!f32[4]", "3.5,-3.5,-3.5,3.5"}});
  // 0.3f / 0.1f is just above 3: 0.300000012 / 0.100000001.
  const std::string floats = "f32[5]{7.5,-7.5,1,-1,0.3} f32[5]{2,2,0,0,0.1} ";
  check_kernel("aten::div.out_mode", {{ints + "'trunc' !i32[4]", "3,-3,-3,3"},
                                      {floats + "'floor' !f32[5]", "3,-4,inf,-inf,3"},
                                      {floats + "'up' !f32[5]", "error: rounding_mode"}});
}

TEST(Elementwise, LogaddexpAndXlogyHandleZeroInfinityAndNan) {
  const std::string inputs = "f32[5]{0,2,0,inf,-inf} f32[5]{0,3,nan,inf,-inf} !f32[5]";
  // The first two results are log(2) and log(exp(2) + exp(3)).
  check_kernel("aten::logaddexp.out", {{inputs, "0.6931471805599453,?,nan,inf,-inf"}}, 2.4e-7);
  check_kernel("aten::logaddexp.out", {{inputs, "?,3.3132616875182228,?,?,?"}}, 5e-7);
  // The result is 1000 + log(1 + exp(-1)).
  check_kernel("aten::logaddexp.out", {{"f32[1]{1000} f32[1]{999} !f32[1]", "1000.3132616875182"}},
               2e-4);
  // xlogy(0, 0) is 0, although log(0) is infinite. xlogy(2, 3) is 2 * log(3).
  check_kernel("aten::xlogy.OutTensor", {{inputs, "0,?,nan,?,?"}});
  check_kernel("aten::xlogy.OutTensor", {{inputs, "?,2.1972245773362196,?,?,?"}}, 5e-7);
}

TEST(Elementwise, SigmoidBackwardMatchesDifferenceQuotient) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<double> points = {-3, -0.5, 0, 1, 4};
  std::vector<float> results;
  for (const double x : points) results.push_back(static_cast<float>(sigmoid(x)));
  KernelCall call;
  Tensor& gradient = call.make<float>({1}, {2});
  Tensor& y = call.make<float>({5}, results);
  Tensor& out =
      call.output_of(ScalarType::kFloat, {5}, "aten::sigmoid_backward.grad_input", gradient, y);
  const std::vector<float> found = values_of<float>(out);
  for (size_t i = 0; i < points.size(); ++i) {
    const double slope = (sigmoid(points[i] + 1e-4) - sigmoid(points[i] - 1e-4)) / 2e-4;
    EXPECT_NEAR(found[i], 2 * slope, 1e-6) << points[i];
  }
}

TEST(Elementwise, PropagatesNan) {
  for (const char* op : {"aten::maximum.out", "aten::minimum.out"}) {
    check_kernel(op, {{"f32[3]{nan,1,2} f32[3]{0,nan,3} !f32[3]", "nan,nan,?"}});
  }
  check_kernel("aten::relu.out", {{"f32[3]{nan,1,2} !f32[3]", "nan,1,2"}});
  check_kernel("aten::hardtanh.out", {{"f32[3]{nan,1,2} -1 1 !f32[3]", "nan,1,1"}});
  check_kernel("aten::sign.out", {{"f32[3]{nan,1,2} !f32[3]", "0,1,1"}});
}

TEST(Elementwise, ClampReturnsMaxIfMinIsLargerAndRejectsInvalidBounds) {
  check_kernel("aten::clamp.out", {{"f32[3]{nan,1,2} 0.0 none !f32[3]", "nan,1,2"},
                                   {"f32[3]{-9,0,9} 5.0 -5.0 !f32[3]", "-5,-5,-5"},
                                   {"f32[3] none none !f32[3]", "error: "},
                                   {"i8[1] 0 300 !i8[1]", "error: max is 300"}});
}

TEST(Elementwise, OutOfRangeShiftCountShiftsOutAllBits) {
  const std::string inputs = "i32[4]{-8,-8,8,8} i32[4]{1,40,-1,31} !i32[4]";
  check_kernel("aten::bitwise_right_shift.Tensor_out", {{inputs, "-4,-1,0,0"}});
  check_kernel("aten::bitwise_left_shift.Tensor_out", {{inputs, "-16,0,0,0"}});
}

TEST(Elementwise, RoundsTiesToEven) {
  check_kernel("aten::round.out", {{"f32[4]{0.5,1.5,2.5,-0.5} !f32[4]", "0,2,2,-0.0"}});
}

TEST(Elementwise, ComputesIntegerPowers) {
  check_kernel("aten::pow.Tensor_Tensor_out",
               {{"i32[4]{3,-1,2,1} i32[4]{4,-3,-1,-5} !i32[4]", "81,-1,0,1"}});
  check_kernel("aten::pow.Tensor_Scalar_out", {{"i32[4] -2 !i32[4]", "error: "}});
}

TEST(Elementwise, AtenWhereAcceptsBoolAndByteConditions) {
  check_kernel("aten::where.self_out",
               {{"u8[2,1]{0,7} i32[2]{1,2} f32[1]{-0.5} !f32[2,2]", "-0.5,-0.5,1,2"},
                {"f32[1]{-0.5} i32[2]{1,2} f32[1]{-0.5} !f32[2,2]", "error: "}});
}

TEST(Elementwise, IsnanAndIsinfReturnFalseForIntegers) {
  check_kernel("aten::isnan.out", {{"f32[3]{nan,inf,1} !bool[3]", "1,0,0"}});
  check_kernel("aten::isinf.out",
               {{"f32[3]{nan,inf,1} !bool[3]", "0,1,0"}, {"i64[3]{1,max,0} !bool[3]", "0,0,0"}});
}

TEST(Elementwise, GeluRejectsUnknownApproximation) {
  check_kernel("aten::gelu.out",
               {{"f32[2]{1,-1} 'none' !f32[2]", "0.8413447,-0.1586553"},  // x * Phi(x)
                {"f32[2]{1,-1} 'sigmoid' !f32[2]", "error: approximate"}},
               1e-6);
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

}  // namespace
}  // namespace vitrine::test
