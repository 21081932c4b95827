// Tests operators that copy elements from one layout to another, such as permute, slice, cat and
// flip.
#include <gmock/gmock.h>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

TEST(PermuteCopy, PermutesElementsOfAnySize) {
  check_kernel(
      "aten::permute_copy.out",
      {{"i16[2,3]{1,2,3,4,5,6} [1,0] !i16[3,2]", "1,4,2,5,3,6"},
       {"f64[2,2,3]{0,1,2,3,4,5,6,7,8,9,10,11} [-1,0,1] !f64[3,2,2]", "0,3,6,9,1,4,7,10,2,5,8,11"},
       {"f32[]{7} [] !f32[]", "7"}});
}

TEST(PermuteCopy, AcceptsComplexTensors) {
  KernelCall call;
  Tensor& self = call.make(ScalarType::kComplexDouble, {1, 2});
  for (int i = 0; i < 4; ++i) self.unchecked_mutable_data<double>()[i] = i;
  Tensor& out = call.output_of(ScalarType::kComplexDouble, {2, 1}, "aten::permute_copy.out", self,
                               call.ints({1, 0}));
  EXPECT_THAT(std::vector<double>(out.unchecked_data<double>(), out.unchecked_data<double>() + 4),
              ElementsAre(0, 1, 2, 3));
}

TEST(PermuteCopy, RejectsInvalidPermutations) {
  check_kernel("aten::permute_copy.out", {{"f32[2,2] [0,0] !f32[2,2]", "error: listed twice"},
                                          {"f32[2,2] [0] !f32[2,2]", "error: dims has 1 numbers"},
                                          {"f32[2,2] [0,2] !f32[2,2]", "error: out of range"},
                                          {"f32[2,2] [0,min] !f32[2,2]", "error: out of range"},
                                          {"f32[2,2] [1,0] !i32[2,2]", "error: i32"}});
}

TEST(TransposeCopy, SwapsDimensionsAndAcceptsZeroDimensionalTensors) {
  check_kernel(
      "aten::transpose_copy.int_out",
      {{"u8[2,1,3]{1,2,3,4,5,6} 0 -1 !u8[3,1,2]", "1,4,2,5,3,6"}, {"f32[]{7} 0 -1 !f32[]", "7"}});
  check_kernel("aten::t_copy.out", {{"f32[3]{1,2,3} !f32[3]", "1,2,3"},
                                    {"f32[1,1,1] !f32[1,1,1]", "error: rank 2 or less"}});
}

TEST(SliceScatter, ReplacesASliceAndConvertsDtypes) {
  const std::string self = "f32[2,3]{0,1,2,3,4,5} ";
  const std::string src = "i32[2,2]{10,11,12,13} ";
  check_kernel("aten::slice_scatter.out",
               {{self + src + "1 none none 2 !f32[2,3]", "10,1,11,12,4,13"}});
  check_kernel("aten::select_scatter.out", {{self + "f32[3]{7,8,9} 0 -1 !f32[2,3]", "0,1,2,7,8,9"},
                                            {self + src + "0 0 !f32[2,3]", "error: shape"}});
}

TEST(SplitCopy, CoversAllElements) {
  const std::string self = "f32[2,5]{0,1,2,3,4,5,6,7,8,9} ";
  check_kernel("aten::split_copy.Tensor_out",
               {{self + "2 1 !(f32[2,2],f32[2,2],f32[2,1])", "0,1,5,6 2,3,7,8 4,9"},
                {self + "2 1 !(f32[2,2],f32[2,2])", "error: 3 parts, got 2"},
                {self + "0 1 !(f32[2,2])", "error: split_size"}});
  check_kernel("aten::split_with_sizes_copy.out",
               {{self + "[1,2,2] -1 !(f32[2,1],f32[2,2],f32[2,2])", "0,5 1,2,6,7 3,4,8,9"},
                {self + "[1,2] 1 !(f32[2,1],f32[2,2])", "error: 3 elements in total"}});
  check_kernel("aten::unbind_copy.int_out", {{"f32[2,2]{0,1,2,3} 1 !(f32[2],f32[2])", "0,2 1,3"}});
}

TEST(Cat, PromotesDtypesAndSkipsEmptyTensors) {
  const std::string two = "(i32[1,2]{1,2},f16[2,2]{0.5,1.5,2.5,3.5}) ";
  check_kernel(
      "aten::cat.out",
      {{"(i32[1,2]{1,2},f32[0],f16[2,2]{0.5,1.5,2.5,3.5}) 0 !f32[3,2]", "1,2,0.5,1.5,2.5,3.5"},
       {"(f32[1,2,1,2]:0231{0,2,1,3},f32[1,1,1,2]{4,5}) 1 !f32[1,3,1,2]:0231", "0,2,4,1,3,5"},
       {two + "0 !i32[3,2]", "error: f16"},
       {two + "1 !f32[3,2]", "error: input 1"},
       {"() 1 !f32[3,2]", "error: at least one tensor"},
       {"(f32[]) 0 !f32[3,2]", "error: 0-d"}});
}

TEST(Stack, InsertsDimension) {
  check_kernel("aten::stack.out", {{"(f32[2]{1,2},f32[2]{3,4}) -1 !f32[2,2]", "1,3,2,4"},
                                   {"(f32[2]{1,2},f32[1]{3}) 0 !f32[2,2]", "error: "}});
}

TEST(Flip, ReversesSeveralDimensions) {
  check_kernel("aten::flip.out", {{"f32[2,3]{0,1,2,3,4,5} [0,-1] !f32[2,3]", "5,4,3,2,1,0"},
                                  {"f32[2,3]{0,1,2,3,4,5} [1] !f32[2,3]", "2,1,0,5,4,3"}});
}

TEST(Repeat, RepeatsAndAddsDimensions) {
  check_kernel("aten::repeat.out",
               {{"f32[1,2]{1,2} [2,2,2] !f32[2,2,4]", "1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2"},
                {"f32[1,2] [0,1] !f32[0,2]", "empty"},
                {"f32[1,2] [2] !f32[2,2,4]", "error: "},
                {"f32[1,2] [-1,2] !f32[2,2,4]", "error: "},
                {"f32[1,2] [max,max] !f32[0,2]", "error: "}});
}

TEST(Roll, RollsDimensionsOrAllElements) {
  const std::string self = "f32[2,3]{0,1,2,3,4,5} ";
  check_kernel("aten::roll.out", {{self + "[1,-1] [1,0] !f32[2,3]", "5,3,4,2,0,1"},
                                  {self + "[-7] [] !f32[2,3]", "1,2,3,4,5,0"},
                                  {self + "[1,1] [1,1] !f32[2,3]", "1,2,0,4,5,3"},
                                  {self + "[1] [0,1] !f32[2,3]", "error: "}});
}

TEST(Pad, FillsReflectsReplicatesAndCrops) {
  const std::string self = "f32[1,4]{0,1,2,3} ";
  check_kernel("aten::constant_pad_nd.out", {{self + "[1,2] 9.5 !f32[1,7]", "9.5,0,1,2,3,9.5,9.5"},
                                             {self + "[-2,1] 9 !f32[1,3]", "2,3,9"},
                                             {self + "[4,-5] 9 !f32[1,3]", "9,9,9"},
                                             {self + "[1] 0 !f32[1,8]", "error: "},
                                             {self + "[-5,0] 0 !f32[1,8]", "error: "},
                                             {self + "[min,min] 0 !f32[1,8]", "error: "}});
  check_kernel("aten::reflection_pad1d.out", {{self + "[2,1] !f32[1,7]", "2,1,0,1,2,3,2"},
                                              {self + "[2,-3] !f32[1,3]", "2,1,0"},
                                              {self + "[4,0] !f32[1,8]", "error: "},
                                              {self + "[4] !f32[1,8]", "error: "}});
  check_kernel("aten::replication_pad1d.out", {{self + "[2,1] !f32[1,7]", "0,0,0,1,2,3,3"},
                                               {self + "[-3,2] !f32[1,3]", "3,3,3"},
                                               {self + "[-4,0] !f32[1,8]", "error: "},
                                               {self + "[max,1] !f32[1,8]", "error: "}});
  check_kernel("aten::reflection_pad2d.out",
               {{"f32[1,2,2]{0,1,2,3} [1,0,1,1] !f32[1,4,3]", "3,2,3,1,0,1,3,2,3,1,0,1"}});
}

// Small and large results are computed by different loops.
TEST(Pad, ReflectsAndReplicatesRowsOfAnyLength) {
  for (const int32_t size : {3, 20, 90}) {
    SCOPED_TRACE(size);
    const int32_t padded = size + 3;  // one row or column before, two after
    for (const bool reflects : {true, false}) {
      KernelCall call;
      const std::vector<float> values = count_up(static_cast<size_t>(size * size));
      Tensor& self = call.make<float>({1, size, size}, values);
      Tensor& out = call.make(ScalarType::kFloat, {1, padded, padded});
      const char* name = reflects ? "aten::reflection_pad2d.out" : "aten::replication_pad2d.out";
      ASSERT_TRUE(succeeds(call.run(name, self, call.ints({1, 2, 1, 2}), out)));
      const auto from = [&](int32_t at) {
        if (at >= 0 && at < size) return at;
        if (!reflects) return at < 0 ? 0 : size - 1;
        return at < 0 ? -at : 2 * (size - 1) - at;
      };
      std::vector<float> expected;
      for (int32_t y = -1; y < size + 2; ++y) {
        for (int32_t x = -1; x < size + 2; ++x) {
          expected.push_back(static_cast<float>(from(y) * size + from(x)));
        }
      }
      EXPECT_EQ(values_of<float>(out), expected) << name;
    }
  }
}

TEST(ToCopy, ConvertsLikePyTorch) {
  check_kernel("aten::_to_copy.out",
               {{"f32[4]{-1.5,300,0.25,nan} false none !u8[4]", "255,44,0,0"},
                {"f32[4]{-1.5,300,0.25,nan} false none !bool[4]", "1,1,1,1"}});
  const std::string self = "f32[1,2,2,2]{0,1,2,3,4,5,6,7} false ";
  check_kernel("dim_order_ops::_to_dim_order_copy.out",
               {{self + "[0,2,3,1] !i32[1,2,2,2]:0231", "0,4,1,5,2,6,3,7"},
                {self + "[0,1,2,3] !i32[1,2,2,2]:0231", "error: dim_order"}});
  check_kernel("aten::copy_", {{"!f32[2,2]{0,1,2,3} i64[2]{5,6} false", "5,6,5,6"},
                               {"!f32[2,2]{0,1,2,3} f32[3] false", "error: broadcast"}});
}

TEST(Copy, RejectsTensorWithoutMemory) {
  KernelCall call;
  Tensor& self = call.make<float>({2}, {1, 2});
  Tensor& src = call.make(ScalarType::kFloat, {2});
  src.set_data(nullptr);
  EXPECT_TRUE(
      fails(call.run("aten::copy_", self, src, false), ErrorCode::kInvalidState, "without memory"));
}

TEST(AsStridedCopy, RejectsAccessOutsideTensor) {
  const std::string self = "f32[6]{0,1,2,3,4,5} ";
  check_kernel("aten::as_strided_copy.out", {{self + "[2,2] [1,2] 2 !f32[2,2]", "2,4,3,5"},
                                             {self + "[2,2] [1,2] 3 !f32[2,2]", "error: "},
                                             {self + "[2,2] [-1,2] 2 !f32[2,2]", "error: "},
                                             {self + "[2,2] [1,2] -1 !f32[2,2]", "error: "},
                                             {self + "[2,2] [max,max] 2 !f32[2,2]", "error: "},
                                             {self + "[2,2] [1] 0 !f32[2,2]", "error: "}});
}

TEST(DiagonalCopy, AcceptsAnyOffset) {
  const std::string self = "f32[2,3]{0,1,2,3,4,5} ";
  check_kernel("aten::diagonal_copy.out", {{self + "1 0 1 !~f32[3]", "1,5"},
                                           {self + "1 1 0 !~f32[3]", "3"},
                                           {self + "min 0 1 !~f32[3]", "empty"},
                                           {self + "0 1 -1 !~f32[3]", "error: "}});
}

TEST(UnfoldCopy, CopiesOverlappingWindows) {
  check_kernel("aten::unfold_copy.out", {{"f32[5]{0,1,2,3,4} 0 3 2 !f32[2,3]", "0,1,2,2,3,4"},
                                         {"f32[5] 0 6 1 !f32[2,3]", "error: "},
                                         {"f32[5] 0 3 0 !f32[2,3]", "error: "}});
}

TEST(PixelShuffle, UnshuffleRestoresInput) {
  check_kernel("aten::pixel_shuffle.out",
               {{"f32[4,1,2]{0,1,2,3,4,5,6,7} 2 !f32[1,2,4]", "0,2,1,3,4,6,5,7"},
                {"f32[4,1,2] 3 !f32[1,2,4]", "error: "},
                {"f32[4,1,2] 0 !f32[1,2,4]", "error: "}});
  check_kernel("aten::pixel_unshuffle.out",
               {{"f32[1,2,4]{0,2,1,3,4,6,5,7} 2 !f32[4,1,2]", "0,1,2,3,4,5,6,7"},
                {"f32[1,2,4] min !f32[4,1,2]", "error: "}});
}

TEST(Tril, KeepsTheLowerTriangle) {
  check_kernel("aten::tril.out", {{"f32[2,3]{1,2,3,4,5,6} 0 !f32[2,3]", "1,0,0,4,5,0"},
                                  {"f32[2,3]{1,2,3,4,5,6} max !f32[2,3]", "1,2,3,4,5,6"},
                                  {"f32[2,3]{1,2,3,4,5,6} min !f32[2,3]", "0,0,0,0,0,0"}});
}

TEST(ViewAsRealCopy, SplitsRealAndImaginaryParts) {
  KernelCall call;
  Tensor& self = call.make(ScalarType::kComplexFloat, {2});
  for (int i = 0; i < 4; ++i) self.unchecked_mutable_data<float>()[i] = static_cast<float>(i);
  Tensor& out = call.output_of(ScalarType::kFloat, {2, 2}, "aten::view_as_real_copy.out", self);
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(call.run("aten::view_as_real_copy.out", out, out).ok());
}

TEST(ViewAsComplexCopy, JoinsRealAndImaginaryParts) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {0, 1, 2, 3});
  Tensor& out =
      call.output_of(ScalarType::kComplexFloat, {2}, "aten::view_as_complex_copy.out", self);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out.unchecked_data<float>()[i], static_cast<float>(i));
}

TEST(ViewAsComplexCopy, RejectsUnsupportedShapesAndDtypes) {
  check_kernel("aten::view_as_complex_copy.out", {{"f32[2,3] !c64[2]", "error: "},
                                                  {"f32[] !c64[2]", "error: "},
                                                  {"f64[2,2] !c64[2]", "error: "}});
}

}  // namespace
}  // namespace vitrine::test
