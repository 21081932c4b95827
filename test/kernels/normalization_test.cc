// Tests softmax and normalizations.

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(Softmax, LargeValuesDoNotOverflow) {
  const std::string input = "f32[1,2]{1000,1001.0986122886681} -1 false !f32[1,2]";  // + log(3)
  check_kernel("aten::_softmax.out", {{input, "0.25,0.75"}}, 1e-4);
  check_kernel("aten::_log_softmax.out", {{input, "-1.3862943611198906,-0.2876820724517809"}},
               1e-4);
}

// The dimension is longer than the kernel's conversion buffer (kChunkLength).
TEST(Softmax, NormalizesALongOuterDimension) {
  std::string expected = "0.005";
  for (int i = 1; i < 400; ++i) expected += ",0.005";
  check_kernel("aten::_softmax.out", {{"f32[200,2]{3} 0 false !f32[200,2]", expected}}, 1e-7);
}

TEST(Softmax, AcceptsScalarsAndEmptyRows) {
  check_kernel("aten::_softmax.out", {{"f32[]{5} 0 false !f32[]", "1"},
                                      {"f32[2,0] 1 false !f32[2,0]", "empty"},
                                      {"f32[]{5} 1 false !f32[]", "error: "},
                                      {"i32[]{5} 0 false !i32[]", "error: "}});
}

TEST(LayerNorm, NormalizesRowsWithWeightAndBias) {
  const std::string input = "f32[2,2]{1,3,-2,2} ";
  const std::string out = " !f32[2,2] !f32[2,1] !f32[2,1]";
  check_kernel("aten::native_layer_norm.out",
               {// The first row has mean 2 and variance 1, and the second row has mean 0 and
                // variance 4.
                {input + "[2] f32[2]{1,10} f32[2]{0,100} 0.0" + out, "-1,110,-1,110 2,0 1,0.5"},
                {input + "[] none none 0.00001" + out, "error: "},
                {input + "[3] none none 0.00001" + out, "error: "},
                {input + "[2,2,2] none none 0.00001" + out, "error: "},
                {input + "[2] f32[1] none 0.00001" + out, "error: weight"}},
               1e-5);
}

TEST(LayerNorm, RejectsWritingTheMeanToTheInput) {
  KernelCall call;
  Tensor& a = call.make(ScalarType::kFloat, {2, 2}, {}, ShapeDynamism::kDynamicBound);
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  Tensor& rstd = call.make(ScalarType::kFloat, {2, 1});
  EXPECT_TRUE(fails(call.run("aten::native_layer_norm.out", a, call.ints({2}), call.none(),
                             call.none(), 1e-5, out, a, rstd),
                    ErrorCode::kInvalidProgram, "is also an input of the operator"));
}

// One batch has four channels of one element in two groups, {1, 3} and {10, 30}.
TEST(GroupNorm, NormalizesGroupsOfChannels) {
  const std::string inputs = "f32[1,4,1]{1,3,10,30} f32[4]{1,2,1,2} none ";
  const std::string out = " 0.0 !f32[1,4,1] !f32[1,2] !f32[1,2]";
  check_kernel("aten::native_group_norm.out",
               {{inputs + "1 4 1 2" + out, "-1,2,-1,2 2,20 1,0.1"},
                {inputs + "1 4 1 0" + out, "error: "},
                {inputs + "1 4 1 3" + out, "error: "},
                {inputs + "1 5 1 1" + out, "error: "}},
               1e-5);
}

TEST(BatchNorm, NormalizesChannelsInAnyDimOrder) {
  const std::string parameters = " f32[2]{1,2} f32[2]{0,5} f32[2]{1,10} f32[2]{4,25} 0.1 0.0 ";
  const std::string nothing = " !f32[0] !f32[0]";
  check_kernel(
      "aten::_native_batch_norm_legit_no_training.out",
      {{"f32[1,2,1,2]{1,5,10,20}" + parameters + "!f32[1,2,1,2]" + nothing, "0,2,5,9 empty empty"},
       {"f32[1,2,1,2]:0231{1,10,5,20}" + parameters + "!f32[1,2,1,2]:0231" + nothing,
        "0,5,2,9 empty empty"},
       {"f32[1,3,1]" + parameters + "!f32[1,3,1]" + nothing, "error: weight"},
       {"f32[2]" + parameters + "!f32[2]" + nothing, "error: channel"}},
      1e-5);
}

// The first channel has mean 4 and variance 5, and the second one has mean 1 and variance 0.
TEST(BatchNorm, ComputesStatisticsOfTheBatch) {
  const std::string arguments = " f32[2]{1,2} f32[2]{0,7} true 0.1 4.0 ";
  const std::string statistics = " !f32[2] !f32[2]";
  const std::string third = "0.33333333";
  check_kernel("aten::_native_batch_norm_legit.no_stats_out",
               {{"f32[2,1,2]{1,3,5,7} none none true 0.1 4.0 !f32[2,1,2] !f32[1] !f32[1]",
                 "-1,-0.33333333,0.33333333,1 4 0.33333333"},
                {"f32[2,2,2]{1,3,1,1,5,7,1,1}" + arguments + "!f32[2,2,2]" + statistics,
                 "-1,-0.33333333,7,7,0.33333333,1,7,7 4,1 " + third + ",0.5"},
                {"f32[2,2,2]:021{1,1,3,1,5,1,7,1}" + arguments + "!f32[2,2,2]:021" + statistics,
                 "-1,7,-0.33333333,7,0.33333333,7,1,7 4,1 " + third + ",0.5"},
                {"f32[1,2,4]{1,3,5,7,1,1,1,1}" + arguments + "!f32[1,2,4]" + statistics,
                 "-1,-0.33333333,0.33333333,1,7,7,7,7 4,1 " + third + ",0.5"},
                {"f32[4,2]{1,1,3,1,5,1,7,1}" + arguments + "!f32[4,2]" + statistics,
                 "-1,7,-0.33333333,7,0.33333333,7,1,7 4,1 " + third + ",0.5"},
                {"f32[2,2,0]" + arguments + "!f32[2,2,0]" + statistics, "empty nan,nan nan,nan"},
                {"f32[2,3,1]" + arguments + "!f32[2,3,1] !f32[3] !f32[3]", "error: weight"},
                {"f32[2]" + arguments + "!f32[2]" + statistics, "error: channel"}},
               1e-5);
}

}  // namespace
}  // namespace vitrine::test
