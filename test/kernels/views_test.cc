// Tests operators that copy a view of a tensor, such as view, squeeze, select and slice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(ExpandCopy, RepeatsDimensionsOfSizeOne) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 1}, {1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::expand_copy.out", self, call.ints({2, -1, 3}), false, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2));
  const auto run = [&](std::initializer_list<int64_t> sizes) {
    return call.run("aten::expand_copy.out", self, call.ints(sizes), false, out);
  };
  EXPECT_TRUE(fails(run({-1, 2, 3}), ErrorCode::kInvalidArgument, "expand"));  // a new dimension
  EXPECT_TRUE(fails(run({3, 3}), ErrorCode::kInvalidArgument, "expand"));
  EXPECT_TRUE(fails(run({3}), ErrorCode::kInvalidArgument, "expand"));
  EXPECT_TRUE(fails(run({2, -2, 3}), ErrorCode::kInvalidArgument, "expand"));
  EXPECT_FALSE(run({INT32_MAX, 2, INT32_MAX}).ok());
}

TEST(ViewCopy, InfersOneSize) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 6}, count_up(12));
  Tensor& out = call.make(ScalarType::kFloat, {3, 2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::view_copy.out", self, call.ints({3, -1, 2}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAreArray(count_up(12)));
  const auto run = [&](std::initializer_list<int64_t> sizes) {
    return call.run("aten::view_copy.out", self, call.ints(sizes), out);
  };
  EXPECT_TRUE(fails(run({5, -1, 2}), ErrorCode::kInvalidArgument, "-1"));
  EXPECT_TRUE(fails(run({0, -1, 2}), ErrorCode::kInvalidArgument, "-1"));
  EXPECT_TRUE(fails(run({-1, -1, 2}), ErrorCode::kInvalidArgument, "-1"));
  EXPECT_TRUE(fails(run({3, 2, 3}), ErrorCode::kInvalidArgument, "is not 12"));
  EXPECT_FALSE(run({3037000500, 3037000500, 3037000500}).ok());
}

TEST(ViewCopy, ReadsChannelsLastInLogicalOrder) {
  KernelCall call;
  // A tensor [1, 2, 1, 2] with elements {0, 1, 2, 3}.
  Tensor& self = call.make<float>({1, 2, 1, 2}, {0, 2, 1, 3}, {0, 2, 3, 1});
  Tensor& out = call.make(ScalarType::kFloat, {4});
  ASSERT_TRUE(succeeds(call.run("aten::view_copy.out", self, call.ints({4}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 3));
  // If neither tensor is row-major and the sizes differ, elements are copied one at a time.
  Tensor& both = call.make(ScalarType::kFloat, {1, 2, 2, 1}, {0, 3, 2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::view_copy.out", self, call.ints({1, 2, 2, 1}), both)));
  EXPECT_THAT(values_of<float>(both), ElementsAre(0, 2, 1, 3));
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
  KernelCall call;
  Tensor& self = call.make<float>({1, 2, 1}, {1, 2});
  Tensor& all = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::squeeze_copy.dims_out", self, call.ints({0, 1, -1}), all)));
  EXPECT_THAT(values_of<float>(all), ElementsAre(1, 2));
  Tensor& one = call.make(ScalarType::kFloat, {1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::squeeze_copy.dim_out", self, 2, one)));
  Tensor& more = call.make(ScalarType::kFloat, {1, 2, 1, 1});
  ASSERT_TRUE(succeeds(call.run("aten::unsqueeze_copy.out", self, -1, more)));
  EXPECT_THAT(values_of<float>(more), ElementsAre(1, 2));
  EXPECT_TRUE(fails(call.run("aten::unsqueeze_copy.out", self, 4, more),
                    ErrorCode::kInvalidArgument, "out of range"));
}

TEST(SelectCopy, AcceptsNegativeIndex) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::select_copy.int_out", self, 1, -1, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 5));
  EXPECT_TRUE(fails(call.run("aten::select_copy.int_out", self, 1, 3, out),
                    ErrorCode::kInvalidArgument, "index 3"));
  EXPECT_TRUE(fails(call.run("aten::select_copy.int_out", self, 1, INT64_MIN, out),
                    ErrorCode::kInvalidArgument, "index"));
  Tensor& scalar = call.make<float>({}, {7});
  EXPECT_TRUE(fails(call.run("aten::select_copy.int_out", scalar, 0, 0, scalar),
                    ErrorCode::kInvalidArgument, "at least one dimension"));
}

TEST(SliceCopy, ClampsBoundsLikePython) {
  KernelCall call;
  Tensor& self = call.make<float>({7}, count_up(7));
  const auto slice = [&](const EValue& start, const EValue& end, int64_t step) {
    Tensor& out = call.make(ScalarType::kFloat, {7}, {}, kDynamic);
    EXPECT_TRUE(succeeds(call.run("aten::slice_copy.Tensor_out", self, 0, start, end, step, out)));
    return values_of<float>(out);
  };
  const auto number = [](int64_t value) { return EValue(value); };
  EXPECT_THAT(slice(call.none(), call.none(), 3), ElementsAre(0, 3, 6));
  EXPECT_THAT(slice(number(-3), number(INT64_MAX), 1), ElementsAre(4, 5, 6));
  EXPECT_THAT(slice(number(INT64_MIN), number(2), 1), ElementsAre(0, 1));
  EXPECT_THAT(slice(number(1), number(-1), 2), ElementsAre(1, 3, 5));
  EXPECT_THAT(slice(number(5), number(2), 1), ElementsAre());
  EXPECT_THAT(slice(number(6), number(7), INT64_MAX), ElementsAre(6));
  Tensor& out = call.make(ScalarType::kFloat, {7});
  for (const int64_t step : {int64_t{0}, int64_t{-1}}) {
    EXPECT_TRUE(
        fails(call.run("aten::slice_copy.Tensor_out", self, 0, call.none(), call.none(), step, out),
              ErrorCode::kInvalidArgument, "step"));
  }
}

TEST(SliceCopy, RejectsStaticOutputWithADifferentShape) {
  KernelCall call;
  Tensor& self = call.make<float>({4}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {3});
  EXPECT_TRUE(
      fails(call.run("aten::slice_copy.Tensor_out", self, 0, call.none(), call.none(), 1, out),
            ErrorCode::kNotSupported, "static"));
}

TEST(NarrowCopy, RejectsRangeOutsideTensor) {
  KernelCall call;
  Tensor& self = call.make<float>({4}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::narrow_copy.out", self, 0, -3, 2, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2));
  EXPECT_FALSE(call.run("aten::narrow_copy.out", self, 0, 3, 2, out).ok());
  EXPECT_FALSE(call.run("aten::narrow_copy.out", self, 0, 1, -1, out).ok());
  EXPECT_FALSE(call.run("aten::narrow_copy.out", self, 0, 1, INT64_MAX, out).ok());
}

}  // namespace
}  // namespace vitrine::test
