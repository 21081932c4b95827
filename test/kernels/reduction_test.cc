// Tests sums, means, extrema, variance, scans and sorting against values computed by hand. Edge
// cases are as in PyTorch.
#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(Reduction, SumReducesAnyDimensions) {
  const std::string self = "f32[2,3]{1,2,3,10,20,30} ";
  check_kernel(
      "aten::sum.IntList_out",
      {{self + "[0] false none !f32[3]", "11,22,33"},
       {self + "[-1] true none !f32[2,1]", "6,60"},
       {self + "none false none !f32[]", "66"},
       {self + "[] false none !f32[]", "66"},
       {self + "[0,1] false none !f32[]", "66"},
       // A channels-last tensor has the values 0..7 in logical order. The sums over dimension 2 are
       // 0+2 and 1+3 in channel 0, and 4+6 and 5+7 in channel 1.
       {"f32[1,2,2,2]:0231{0,4,1,5,2,6,3,7} [2] true none !f32[1,2,1,2]:0231", "2,10,4,12"},
       {"f32[0,2] [0] false none !f32[2]", "0,0"},
       {"i64[2]{max,1} none false none !i64[]", "min"},
       {"bool[5]{1,0,1,1,1} none false none !i64[]", "4"},
       // A running sum in f16 would stop at 2048.
       {"f16[5000]{1} none false none !f16[]", "5000"}});
  check_kernel("aten::mean.out", {{"f32[0,2] [0] false none !f32[2]", "nan,nan"}});
}

TEST(Reduction, ReducesShortLines) {
  const std::string pairs = "f32[3,2]{1,-2,nan,5,inf,-inf} [1] false ";
  check_kernel("aten::sum.IntList_out", {{pairs + "none !f32[3]", "-1,nan,nan"}});
  check_kernel("aten::mean.out", {{pairs + "none !f32[3]", "-0.5,nan,nan"},
                                  {"f32[2,8]{1,2,3,4,5,6,7,8,0,0,0,0,0,0,0,4} [1] false none "
                                   "!f32[2]",
                                   "4.5,0.5"}});
  check_kernel("aten::amax.out",
               {{pairs + "!f32[3]", "1,nan,inf"}, {"f32[1,3]{-3,-1,-2} [1] false !f32[1]", "-1"}});
  check_kernel("aten::amin.out", {{pairs + "!f32[3]", "-2,nan,-inf"},
                                  {"f32[1,9]{9,8,7,6,5,4,3,2,1} [1] false !f32[1]", "1"}});
}

TEST(Reduction, ReducesLongLinesOfHalves) {
  const std::string lines = "[2,1500]{1,2,-3} [1] false ";
  check_kernel("aten::sum.IntList_out",
               {{"f16" + lines + "none !f16[2]", "0,0"},
                {"bf16[2,1500]{1,2} [1] false none !bf16[2]", "2256,2256"},
                {"f16[5,400]{1} [1] false none !f16[5]", "400,400,400,400,400"}});
  check_kernel("aten::mean.out", {{"bf16[2,1500]{1,2} [1] false none !bf16[2]", "1.5,1.5"}});
  check_kernel("aten::amax.out", {{"f16" + lines + "!f16[2]", "2,2"}});
  check_kernel("aten::amin.out", {{"bf16" + lines + "!bf16[2]", "-3,-3"}});
}

TEST(Reduction, NansumIgnoresNan) {
  check_kernel("aten::nansum.out", {{"f32[2,3]{1,nan,3,nan,nan,nan} [1] false none !f32[2]", "4,0"},
                                    {"bool[2]{1} none false none !i64[]", "2"}});
}

TEST(Reduction, RejectsInvalidDimensions) {
  check_kernel("aten::sum.IntList_out",
               {{"f32[2,2] [2] false none !f32[2]", "error: dimension 2"},
                {"f32[2,2] [-3] false none !f32[2]", "error: dimension -3"},
                {"f32[2,2] [0,-2] false none !f32[2]", "error: twice"},
                {"f32[2,2] [0,1] false none !f32[2]", "error: rank"},
                {"f32[2,2] [0] false @i32 !f32[2]", "error: i32"}});
}

TEST(Reduction, AcceptsDimensionZeroOfZeroDimensionalTensor) {
  check_kernel("aten::amax.out", {{"f32[]{7} [-1] false !f32[]", "7"}});
  check_kernel("aten::argmax.out", {{"f32[]{7} 0 false !i64[]", "0"}});
}

TEST(Reduction, MeanOfIntegersRequiresDtype) {
  check_kernel("aten::mean.dtype_out",
               {{"i32[2]{1,2} none !f32[]", "error: "}, {"i32[2]{1,2} @f32 !f32[]", "1.5"}});
}

TEST(Reduction, AnyWithEmptyDimensionListIsElementwise) {
  check_kernel("aten::any.dims_out", {{"f32[3]{0,nan,-1} [] false !bool[3]", "0,1,1"},
                                      {"f32[3]{0,nan,-1} none false !u8[]", "1"}});
  check_kernel("aten::any.all_out", {{"f32[0] !u8[]", "0"}});
}

TEST(Reduction, ExtremaReturnTheFirstNanOrTheFirstOfEqualElements) {
  const std::string self = "f32[3,4]{1,5,5,0,nan,9,nan,1,-3,-2,-3,-2} ";
  check_kernel("aten::max.dim_max", {{self + "1 false !f32[3] !i64[3]", "5,nan,-2 1,0,1"}});
  check_kernel("aten::argmin.out", {{self + "1 false !i64[3]", "3,0,0"}});
}

// The tensor has the elements {0, 9, 3, 4}. Their order in memory is {0, 3, 9, 4}.
TEST(Reduction, ArgmaxReturnsRowMajorIndex) {
  check_kernel("aten::argmax.out", {{"f32[1,2,1,2]:0231{0,3,9,4} none false !i64[]", "1"}});
}

TEST(Reduction, ExtremaRejectEmptyReduction) {
  check_kernel("aten::amax.out", {{"f32[0,2] [0] false !f32[2]", "error: "},
                                  {"f32[0,2] [1] false !f32[0]", "empty"}});
  check_kernel("aten::argmin.out", {{"f32[0,2] 0 false !i64[2]", "error: "}});
  check_kernel("aten::max.unary_out", {{"f32[0,2] !f32[]", "error: "}});
}

TEST(Reduction, AcceptsEmptyTensorWithLargeSizes) {
  check_kernel("aten::sum.IntList_out",
               {{"f32[0,2,2,268435456,16384,16384] [0,3,4,5] false none !f32[2,2]", "0,0,0,0"}});
}

TEST(Reduction, VarianceIsAccurateFarFromZero) {
  KernelCall call;
  // The 1000 values fill several chunks. The mean of their squares is about 10^8, where floats are
  // 8 apart, so subtracting the square of the mean from it would lose the variance, 1.
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 9999.0f : 10001.0f;
  Tensor& a = call.make<float>({1000}, values);
  Tensor& var = call.make(ScalarType::kFloat, {});
  Tensor& mean = call.output_of(ScalarType::kFloat, {}, "aten::var_mean.correction_out", a,
                                call.none(), 0, false, var);
  EXPECT_FLOAT_EQ(values_of<float>(var)[0], 1.0f);
  EXPECT_FLOAT_EQ(values_of<float>(mean)[0], 10000.0f);
  ASSERT_TRUE(succeeds(call.run("aten::var.out", a, call.none(), true, false, var)));
  EXPECT_FLOAT_EQ(values_of<float>(var)[0], 1000.0f / 999.0f);
}

TEST(Reduction, VarianceIsNanOrInfiniteIfTheCorrectionIsTooLarge) {
  check_kernel("aten::var.correction_out", {{"f32[1]{3} none none false !f32[]", "nan"},
                                            {"f32[2]{3,4} none 3 false !f32[]", "inf"}});
}

TEST(Reduction, ComputesProductsAndCumulativeSums) {
  const std::string self = "i32[2,3]{1,2,3,4,5,6} ";
  check_kernel("aten::prod.int_out", {{self + "1 false none !i64[2]", "6,120"}});
  check_kernel("aten::prod.out", {{"f32[0] none !f32[]", "1"}});
  check_kernel("aten::cumsum.out", {{self + "0 none !i64[2,3]", "1,2,3,5,7,9"},
                                    {self + "-1 none !i64[2,3]", "1,3,6,4,9,15"}});
}

TEST(Sort, SortsNanLastAndIsStable) {
  check_kernel("aten::sort.values",
               {{"f32[5]{2,nan,0.0,-0.0,-1} 0 false !f32[5] !i64[5]", "-1,0,-0.0,2,nan 4,2,3,0,1"},
                {"i64[3]{1152921504606846977,1152921504606846976,min} 0 true !i64[3] !i64[3]",
                 "1152921504606846977,1152921504606846976,min 0,1,2"}});
  check_kernel(
      "aten::sort.values_stable",
      {{"f32[5]{2,nan,0.0,-0.0,-1} true 0 true !f32[5] !i64[5]", "nan,2,0,-0.0,-1 1,0,2,3,4"}});
}

TEST(Sort, TopkAcceptsOuterDimension) {
  const std::string self = "i32[3,2]{1,9,5,7,3,8} ";
  const std::string rest = " 0 true true !i32[2,2] !i64[2,2]";
  check_kernel("aten::topk.values", {{self + "2" + rest, "5,9,3,8 1,0,2,2"},
                                     {self + "4" + rest, "error: k is 4"},
                                     {self + "-1" + rest, "error: "}});
}

}  // namespace
}  // namespace vitrine::test
