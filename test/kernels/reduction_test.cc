// Tests sums, means, extrema, variance, scans and sorting against values computed by hand. Edge
// cases are as in PyTorch.
#include <cmath>
#include <limits>

#include "test/kernels/kernel_call.h"

namespace vitrine {
namespace {

using test::fails;
using test::KernelCall;
using test::succeeds;
using test::values_of;

constexpr float kFloatNan = std::numeric_limits<float>::quiet_NaN();

TEST(Reduction, SumReducesAnyDimensions) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 3}, {1, 2, 3, 10, 20, 30});
  Tensor& columns = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(
      succeeds(call.run("aten::sum.IntList_out", a, call.ints({0}), false, call.none(), columns)));
  EXPECT_EQ(values_of<float>(columns), (std::vector<float>{11, 22, 33}));
  Tensor& rows = call.make(ScalarType::kFloat, {2, 1});
  ASSERT_TRUE(
      succeeds(call.run("aten::sum.IntList_out", a, call.ints({-1}), true, call.none(), rows)));
  EXPECT_EQ(values_of<float>(rows), (std::vector<float>{6, 60}));
  Tensor& all = call.make(ScalarType::kFloat, {});
  for (const EValue& dims : {call.none(), call.ints({}), call.ints({0, 1})}) {
    ASSERT_TRUE(succeeds(call.run("aten::sum.IntList_out", a, dims, false, call.none(), all)));
    EXPECT_EQ(values_of<float>(all)[0], 66);
  }
}

TEST(Reduction, NansumIgnoresNan) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 3}, {1, kFloatNan, 3, kFloatNan, kFloatNan, kFloatNan});
  Tensor& rows = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::nansum.out", a, call.ints({1}), false, call.none(), rows)));
  EXPECT_EQ(values_of<float>(rows), (std::vector<float>{4, 0}));
  Tensor& flags = call.make<bool>({2}, {true, true});
  Tensor& count = call.make(ScalarType::kLong, {});
  ASSERT_TRUE(
      succeeds(call.run("aten::nansum.out", flags, call.none(), false, call.none(), count)));
  EXPECT_EQ(values_of<int64_t>(count)[0], 2);
}

TEST(Reduction, AcceptsChannelsLast) {
  KernelCall call;
  // A tensor [1,2,2,2] with values 0..7, summed over dimension 2 with keepdim.
  Tensor& a = call.make<float>({1, 2, 2, 2}, {0, 4, 1, 5, 2, 6, 3, 7}, {0, 2, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 1, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(
      succeeds(call.run("aten::sum.IntList_out", a, call.ints({2}), true, call.none(), out)));
  // The sums are 0+2 and 1+3 in channel 0, 4+6 and 5+7 in channel 1. The channels are innermost in
  // memory.
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{2, 10, 4, 12}));
}

TEST(Reduction, EmptySumIsZeroAndEmptyMeanIsNan) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {0, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(
      succeeds(call.run("aten::sum.IntList_out", a, call.ints({0}), false, call.none(), out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{0, 0}));
  ASSERT_TRUE(succeeds(call.run("aten::mean.out", a, call.ints({0}), false, call.none(), out)));
  EXPECT_TRUE(std::isnan(values_of<float>(out)[0]));
}

TEST(Reduction, SumWrapsIntegersAndCountsBools) {
  KernelCall call;
  const int64_t highest = std::numeric_limits<int64_t>::max();
  Tensor& a = call.make<int64_t>({2}, {highest, 1});
  Tensor& out = call.make(ScalarType::kLong, {});
  ASSERT_TRUE(succeeds(call.run("aten::sum.IntList_out", a, call.none(), false, call.none(), out)));
  EXPECT_EQ(values_of<int64_t>(out)[0], std::numeric_limits<int64_t>::min());
  Tensor& flags = call.make<bool>({5}, {true, false, true, true, true});
  ASSERT_TRUE(
      succeeds(call.run("aten::sum.IntList_out", flags, call.none(), false, call.none(), out)));
  EXPECT_EQ(values_of<int64_t>(out)[0], 4);
}

TEST(Reduction, AccumulatesF16SumsInHigherPrecision) {
  KernelCall call;
  // A running sum in Half would stop at 2048.
  Tensor& a = call.make<Half>({5000}, std::vector<Half>(5000, Half(1)));
  Tensor& out = call.make(ScalarType::kHalf, {});
  ASSERT_TRUE(succeeds(call.run("aten::sum.IntList_out", a, call.none(), false, call.none(), out)));
  EXPECT_EQ(static_cast<float>(values_of<Half>(out)[0]), 5000);
}

TEST(Reduction, RejectsInvalidDimensions) {
  KernelCall call;
  Tensor& a = call.make<float>({2, 2}, {1, 2, 3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {2});
  const auto sum = [&](const EValue& dims) {
    return call.run("aten::sum.IntList_out", a, dims, false, call.none(), out);
  };
  EXPECT_TRUE(fails(sum(call.ints({2})), ErrorCode::kInvalidArgument, "dimension 2"));
  EXPECT_TRUE(fails(sum(call.ints({-3})), ErrorCode::kInvalidArgument, "dimension -3"));
  EXPECT_TRUE(fails(sum(call.ints({0, -2})), ErrorCode::kInvalidArgument, "twice"));
  EXPECT_TRUE(fails(sum(call.ints({0, 1})), ErrorCode::kInvalidArgument, "rank"));
  EXPECT_TRUE(
      fails(call.run("aten::sum.IntList_out", a, call.ints({0}), false, ScalarType::kInt, out),
            ErrorCode::kInvalidArgument, "i32"));
}

TEST(Reduction, AcceptsDimensionZeroOfZeroDimensionalTensor) {
  KernelCall call;
  Tensor& a = call.make<float>({}, {7});
  Tensor& out = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(succeeds(call.run("aten::amax.out", a, call.ints({-1}), false, out)));
  EXPECT_EQ(values_of<float>(out)[0], 7);
  Tensor& index = call.make(ScalarType::kLong, {});
  ASSERT_TRUE(succeeds(call.run("aten::argmax.out", a, 0, false, index)));
  EXPECT_EQ(values_of<int64_t>(index)[0], 0);
}

TEST(Reduction, MeanOfIntegersRequiresDtype) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({2}, {1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {});
  EXPECT_FALSE(call.run("aten::mean.dtype_out", a, call.none(), out).ok());
  ASSERT_TRUE(succeeds(call.run("aten::mean.dtype_out", a, ScalarType::kFloat, out)));
  EXPECT_EQ(values_of<float>(out)[0], 1.5f);
}

TEST(Reduction, AnyWithEmptyDimensionListIsElementwise) {
  KernelCall call;
  Tensor& a = call.make<float>({3}, {0, kFloatNan, -1});
  Tensor& elements = call.make(ScalarType::kBool, {3});
  ASSERT_TRUE(succeeds(call.run("aten::any.dims_out", a, call.ints({}), false, elements)));
  EXPECT_EQ(values_of<bool>(elements), (std::vector<bool>{false, true, true}));
  Tensor& all = call.make(ScalarType::kByte, {});
  ASSERT_TRUE(succeeds(call.run("aten::any.dims_out", a, call.none(), false, all)));
  EXPECT_EQ(values_of<uint8_t>(all)[0], 1);
  Tensor& empty = call.make(ScalarType::kFloat, {0});
  ASSERT_TRUE(succeeds(call.run("aten::any.all_out", empty, all)));
  EXPECT_EQ(values_of<uint8_t>(all)[0], 0);
}

TEST(Reduction, ExtremaPreferFirstNanAndThenFirstOfEqualElements) {
  KernelCall call;
  Tensor& a = call.make<float>({3, 4}, {1, 5, 5, 0, kFloatNan, 9, kFloatNan, 1, -3, -2, -3, -2});
  Tensor& values = call.make(ScalarType::kFloat, {3});
  Tensor& indices = call.make(ScalarType::kLong, {3});
  ASSERT_TRUE(succeeds(call.run("aten::max.dim_max", a, 1, false, values, indices)));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_EQ(values_of<float>(values)[0], 5);
  EXPECT_TRUE(std::isnan(values_of<float>(values)[1]));
  ASSERT_TRUE(succeeds(call.run("aten::argmin.out", a, 1, false, indices)));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{3, 0, 0}));
}

TEST(Reduction, ArgmaxReturnsRowMajorIndex) {
  KernelCall call;
  // A channels-last tensor [1,2,1,2] with the elements {0, 9, 3, 4}. Their order in memory is {0,
  // 3, 9, 4}.
  Tensor& a = call.make<float>({1, 2, 1, 2}, {0, 3, 9, 4}, {0, 2, 3, 1});
  Tensor& index = call.make(ScalarType::kLong, {});
  ASSERT_TRUE(succeeds(call.run("aten::argmax.out", a, call.none(), false, index)));
  EXPECT_EQ(values_of<int64_t>(index)[0], 1);
}

TEST(Reduction, ExtremaRejectEmptyReduction) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {0, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2});
  Tensor& index = call.make(ScalarType::kLong, {2});
  Tensor& one = call.make(ScalarType::kFloat, {});
  EXPECT_FALSE(call.run("aten::amax.out", a, call.ints({0}), false, out).ok());
  EXPECT_FALSE(call.run("aten::argmin.out", a, 0, false, index).ok());
  EXPECT_FALSE(call.run("aten::max.unary_out", a, one).ok());
  Tensor& nothing = call.make(ScalarType::kFloat, {0});
  EXPECT_TRUE(succeeds(call.run("aten::amax.out", a, call.ints({1}), false, nothing)));
}

TEST(Reduction, AcceptsEmptyTensorWithLargeSizes) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {0, 2, 2, 1 << 28, 1 << 14, 1 << 14});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(
      call.run("aten::sum.IntList_out", a, call.ints({0, 3, 4, 5}), false, call.none(), out)));
  EXPECT_EQ(values_of<float>(out), (std::vector<float>{0, 0, 0, 0}));
}

TEST(Reduction, VarianceIsAccurateFarFromZero) {
  KernelCall call;
  // Values 1e4 +- 1 in several chunks, for which a sum of squares would lose all precision.
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 9999.0f : 10001.0f;
  Tensor& a = call.make<float>({1000}, values);
  Tensor& var = call.make(ScalarType::kFloat, {});
  Tensor& mean = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(
      succeeds(call.run("aten::var_mean.correction_out", a, call.none(), 0, false, var, mean)));
  EXPECT_FLOAT_EQ(values_of<float>(var)[0], 1.0f);
  EXPECT_FLOAT_EQ(values_of<float>(mean)[0], 10000.0f);
  ASSERT_TRUE(succeeds(call.run("aten::var.out", a, call.none(), true, false, var)));
  EXPECT_FLOAT_EQ(values_of<float>(var)[0], 1000.0f / 999.0f);
}

TEST(Reduction, VarianceIsNotFiniteWithoutDegreesOfFreedom) {
  KernelCall call;
  Tensor& one = call.make<float>({1}, {3});
  Tensor& var = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(
      succeeds(call.run("aten::var.correction_out", one, call.none(), call.none(), false, var)));
  EXPECT_TRUE(std::isnan(values_of<float>(var)[0]));
  Tensor& two = call.make<float>({2}, {3, 4});
  ASSERT_TRUE(succeeds(call.run("aten::var.correction_out", two, call.none(), 3, false, var)));
  EXPECT_TRUE(std::isinf(values_of<float>(var)[0]));
}

TEST(Reduction, ComputesProductsAndCumulativeSums) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& product = call.make(ScalarType::kLong, {2});
  ASSERT_TRUE(succeeds(call.run("aten::prod.int_out", a, 1, false, call.none(), product)));
  EXPECT_EQ(values_of<int64_t>(product), (std::vector<int64_t>{6, 120}));
  Tensor& empty = call.make(ScalarType::kFloat, {0});
  Tensor& one = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(succeeds(call.run("aten::prod.out", empty, call.none(), one)));
  EXPECT_EQ(values_of<float>(one)[0], 1);
  Tensor& sums = call.make(ScalarType::kLong, {2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::cumsum.out", a, 0, call.none(), sums)));
  EXPECT_EQ(values_of<int64_t>(sums), (std::vector<int64_t>{1, 2, 3, 5, 7, 9}));
  ASSERT_TRUE(succeeds(call.run("aten::cumsum.out", a, -1, call.none(), sums)));
  EXPECT_EQ(values_of<int64_t>(sums), (std::vector<int64_t>{1, 3, 6, 4, 9, 15}));
}

TEST(Sort, SortsNanLastAndIsStable) {
  KernelCall call;
  Tensor& a = call.make<float>({5}, {2, kFloatNan, 0.0f, -0.0f, -1});
  Tensor& values = call.make(ScalarType::kFloat, {5});
  Tensor& indices = call.make(ScalarType::kLong, {5});
  ASSERT_TRUE(succeeds(call.run("aten::sort.values", a, 0, false, values, indices)));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{4, 2, 3, 0, 1}));
  EXPECT_TRUE(std::signbit(values_of<float>(values)[2]));
  ASSERT_TRUE(succeeds(call.run("aten::sort.values_stable", a, true, 0, true, values, indices)));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{1, 0, 2, 3, 4}));
}

TEST(Sort, SortsIntegersBeyondDoublePrecision) {
  KernelCall call;
  const int64_t large = int64_t{1} << 60;
  Tensor& a = call.make<int64_t>({3}, {large + 1, large, std::numeric_limits<int64_t>::min()});
  Tensor& values = call.make(ScalarType::kLong, {3});
  Tensor& indices = call.make(ScalarType::kLong, {3});
  ASSERT_TRUE(succeeds(call.run("aten::sort.values", a, 0, true, values, indices)));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{0, 1, 2}));
}

TEST(Sort, TopkAcceptsOuterDimension) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({3, 2}, {1, 9, 5, 7, 3, 8});
  Tensor& values = call.make(ScalarType::kInt, {2, 2});
  Tensor& indices = call.make(ScalarType::kLong, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::topk.values", a, 2, 0, true, true, values, indices)));
  EXPECT_EQ(values_of<int32_t>(values), (std::vector<int32_t>{5, 9, 3, 8}));
  EXPECT_EQ(values_of<int64_t>(indices), (std::vector<int64_t>{1, 0, 2, 2}));
  EXPECT_TRUE(fails(call.run("aten::topk.values", a, 4, 0, true, true, values, indices),
                    ErrorCode::kInvalidArgument, "k is 4"));
  EXPECT_FALSE(call.run("aten::topk.values", a, -1, 0, true, true, values, indices).ok());
}

}  // namespace
}  // namespace vitrine
