// Tests operators that copy a view of a tensor, such as view, squeeze, select and slice.
#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

TEST(ExpandCopy, RepeatsDimensionsOfSizeOne) {
  const std::string self = "f32[2,1]{1,2} ";
  const std::string out = " false !f32[2,2,3]";
  check_kernel("aten::expand_copy.out",
               {{self + "[2,-1,3]" + out, "1,1,1,2,2,2,1,1,1,2,2,2"},
                {self + "[-1,2,3]" + out, "error: expand"},  // a new dimension
                {self + "[3,3]" + out, "error: expand"},
                {self + "[3]" + out, "error: expand"},
                {self + "[2,-2,3]" + out, "error: expand"},
                {self + "[2147483647,2,2147483647]" + out, "error: "}});
}

TEST(ViewCopy, InfersOneSize) {
  const std::string self = "f32[2,6]{0,1,2,3,4,5,6,7,8,9,10,11} ";
  const std::string out = " !f32[3,2,2]";
  check_kernel("aten::view_copy.out",
               {{self + "[3,-1,2]" + out, "0,1,2,3,4,5,6,7,8,9,10,11"},
                {self + "[5,-1,2]" + out, "error: -1"},
                {self + "[0,-1,2]" + out, "error: -1"},
                {self + "[-1,-1,2]" + out, "error: -1"},
                {self + "[3,2,3]" + out, "error: must be 12"},
                {self + "[3037000500,3037000500,3037000500]" + out, "error: "}});
}

// The input has the shape [1, 2, 1, 2] and the elements {0, 1, 2, 3}. If neither tensor is
// row-major and the sizes differ, elements are copied one at a time.
TEST(ViewCopy, ReadsChannelsLastInLogicalOrder) {
  const std::string self = "f32[1,2,1,2]:0231{0,2,1,3} ";
  check_kernel("aten::view_copy.out", {{self + "[4] !f32[4]", "0,1,2,3"},
                                       {self + "[1,2,2,1] !f32[1,2,2,1]:0321", "0,2,1,3"}});
}

TEST(EtView, SharesMemory) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {3, 2});
  call.result = EValue(&out);
  ASSERT_TRUE(succeeds(call.run("executorch_prim::et_view.default", self, call.ints({-1, 2}))));
  EXPECT_EQ(out.raw_data(), self.raw_data());
  EXPECT_TRUE(fails(call.run("executorch_prim::et_view.default", self, call.ints({6})),
                    ErrorCode::kInvalidArgument, "rank"));
  call.result = EValue(int64_t{3});
  EXPECT_TRUE(fails(call.run("executorch_prim::et_view.default", self, call.ints({6})),
                    ErrorCode::kInvalidProgram, "argument 2 is the Int 3"));
}

TEST(EtView, RejectsDimOrderThatNeedsACopy) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 2, 1, 2}, {0, 2, 1, 3}, {0, 2, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {4});
  call.result = EValue(&out);
  EXPECT_TRUE(fails(call.run("executorch_prim::et_view.default", self, call.ints({4})),
                    ErrorCode::kNotSupported, "dim order"));
}

TEST(SqueezeAndUnsqueeze, KeepElementOrder) {
  const std::string self = "f32[1,2,1]{1,2} ";
  check_kernel("aten::squeeze_copy.dims_out", {{self + "[0,1,-1] !f32[2]", "1,2"}});
  check_kernel("aten::squeeze_copy.dim_out", {{self + "2 !f32[1,2]", "1,2"}});
  check_kernel("aten::unsqueeze_copy.out", {{self + "-1 !f32[1,2,1,1]", "1,2"},
                                            {self + "4 !f32[1,2,1,1]", "error: out of range"}});
}

TEST(SelectCopy, AcceptsNegativeIndex) {
  check_kernel("aten::select_copy.int_out",
               {{"f32[2,3]{0,1,2,3,4,5} 1 -1 !f32[2]", "2,5"},
                {"f32[2,3] 1 3 !f32[2]", "error: index 3"},
                {"f32[2,3] 1 min !f32[2]", "error: index"},
                {"f32[] 0 0 !f32[]", "error: at least one dimension"}});
}

TEST(SliceCopy, ClampsBoundsLikePython) {
  const std::string self = "f32[7]{0,1,2,3,4,5,6} 0 ";
  const std::string out = " !~f32[7]";
  check_kernel("aten::slice_copy.Tensor_out",
               {{self + "none none 3" + out, "0,3,6"},
                {self + "-3 max 1" + out, "4,5,6"},
                {self + "min 2 1" + out, "0,1"},
                {self + "1 -1 2" + out, "1,3,5"},
                {self + "5 2 1" + out, "empty"},
                {self + "6 7 max" + out, "6"},
                {self + "none none 0" + out, "error: step"},
                {self + "none none -1" + out, "error: step"},
                {self + "none none 1 !f32[3]", "error: static", ErrorCode::kNotSupported}});
}

TEST(NarrowCopy, RejectsRangeOutsideTensor) {
  check_kernel("aten::narrow_copy.out", {{"f32[4]{0,1,2,3} 0 -3 2 !f32[2]", "1,2"},
                                         {"f32[4] 0 3 2 !f32[2]", "error: "},
                                         {"f32[4] 0 1 -1 !f32[2]", "error: "},
                                         {"f32[4] 0 1 max !f32[2]", "error: "}});
}

}  // namespace
}  // namespace vitrine::test
