// Tests operators that copy elements from one layout to another, such as permute, slice, cat and
// flip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

TEST(PermuteCopy, PermutesElementsOfAnySize) {
  KernelCall call;
  Tensor& self = call.make<int16_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = call.make(ScalarType::kShort, {3, 2});
  ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", self, call.ints({1, 0}), out)));
  EXPECT_THAT(values_of<int16_t>(out), ElementsAre(1, 4, 2, 5, 3, 6));

  Tensor& cube = call.make<double>({2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Tensor& permuted = call.make(ScalarType::kDouble, {3, 2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", cube, call.ints({-1, 0, 1}), permuted)));
  EXPECT_THAT(values_of<double>(permuted), ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
}

// Permutes dimensions in every order and compares every element by its index. The sizes require
// full and partial tiles.
template <class Element>
void permute_in_every_order(ScalarType dtype) {
  const std::vector<int32_t> sizes = {3, 37, 18, 16};
  std::vector<Element> values(3 * 37 * 18 * 16);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Element>(i * 7 + i / 256);
  std::vector<int64_t> order = {0, 1, 2, 3};
  do {
    KernelCall call;
    Tensor& self = call.make(dtype, sizes);
    std::ranges::copy(values, self.unchecked_mutable_data<Element>());
    std::vector<int32_t> permuted;
    for (const int64_t dim : order) permuted.push_back(sizes[static_cast<size_t>(dim)]);
    Tensor& out = call.make(dtype, permuted);
    ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", self,
                                  call.ints({order[0], order[1], order[2], order[3]}), out)));
    for (size_t i = 0; i < values.size(); ++i) {
      size_t index[4];  // indices in self
      size_t rest = i;
      for (size_t k = 4; k-- > 0;) {
        index[static_cast<size_t>(order[k])] = rest % static_cast<size_t>(permuted[k]);
        rest /= static_cast<size_t>(permuted[k]);
      }
      const size_t from = ((index[0] * 37 + index[1]) * 18 + index[2]) * 16 + index[3];
      ASSERT_EQ(out.unchecked_data<Element>()[i], values[from]) << i;
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(PermuteCopy, PermutesFullAndPartialTiles) {
  permute_in_every_order<uint8_t>(ScalarType::kByte);
  permute_in_every_order<int16_t>(ScalarType::kShort);
  permute_in_every_order<int32_t>(ScalarType::kInt);
  permute_in_every_order<int64_t>(ScalarType::kLong);
}

TEST(PermuteCopy, AcceptsComplexAndZeroDimensionalTensors) {
  KernelCall call;
  Tensor& self = call.make(ScalarType::kComplexDouble, {1, 2});
  for (int i = 0; i < 4; ++i) self.unchecked_mutable_data<double>()[i] = i;
  Tensor& out = call.make(ScalarType::kComplexDouble, {2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", self, call.ints({1, 0}), out)));
  EXPECT_THAT(std::vector<double>(out.unchecked_data<double>(), out.unchecked_data<double>() + 4),
              ElementsAre(0, 1, 2, 3));
  Tensor& scalar = call.make<float>({}, {7});
  Tensor& result = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(succeeds(call.run("aten::permute_copy.out", scalar, call.ints({}), result)));
  EXPECT_EQ(values_of<float>(result)[0], 7);
}

TEST(PermuteCopy, RejectsInvalidPermutations) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {1, 2, 3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  const auto run = [&](std::initializer_list<int64_t> dims) {
    return call.run("aten::permute_copy.out", self, call.ints(dims), out);
  };
  EXPECT_TRUE(fails(run({0, 0}), ErrorCode::kInvalidArgument, "listed twice"));
  EXPECT_TRUE(fails(run({0}), ErrorCode::kInvalidArgument, "dims has 1 numbers"));
  EXPECT_TRUE(fails(run({0, 2}), ErrorCode::kInvalidArgument, "out of range"));
  EXPECT_TRUE(fails(run({0, INT64_MIN}), ErrorCode::kInvalidArgument, "out of range"));
  Tensor& other = call.make(ScalarType::kInt, {2, 2});
  EXPECT_TRUE(fails(call.run("aten::permute_copy.out", self, call.ints({1, 0}), other),
                    ErrorCode::kInvalidArgument, "i32"));
}

TEST(TransposeCopy, SwapsDimensionsAndAcceptsZeroDimensionalTensors) {
  KernelCall call;
  Tensor& self = call.make<uint8_t>({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = call.make(ScalarType::kByte, {3, 1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::transpose_copy.int_out", self, 0, -1, out)));
  EXPECT_THAT(values_of<uint8_t>(out), ElementsAre(1, 4, 2, 5, 3, 6));
  Tensor& scalar = call.make<float>({}, {7});
  Tensor& result = call.make(ScalarType::kFloat, {});
  EXPECT_TRUE(succeeds(call.run("aten::transpose_copy.int_out", scalar, 0, -1, result)));
  EXPECT_EQ(values_of<float>(result)[0], 7);
}

TEST(TCopy, KeepsVectorsAndRejectsRankThree) {
  KernelCall call;
  Tensor& vector = call.make<float>({3}, {1, 2, 3});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(succeeds(call.run("aten::t_copy.out", vector, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3));
  Tensor& cube = call.make<float>({1, 1, 1}, {1});
  EXPECT_TRUE(fails(call.run("aten::t_copy.out", cube, cube), ErrorCode::kInvalidArgument,
                    "rank 2 or less"));
}

TEST(SliceScatter, ReplacesASliceAndConvertsDtypes) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& src = call.make<int32_t>({2, 2}, {10, 11, 12, 13});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(
      call.run("aten::slice_scatter.out", self, src, 1, call.none(), call.none(), 2, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(10, 1, 11, 12, 4, 13));
  Tensor& row = call.make<float>({3}, {7, 8, 9});
  ASSERT_TRUE(succeeds(call.run("aten::select_scatter.out", self, row, 0, -1, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 7, 8, 9));
  EXPECT_TRUE(fails(call.run("aten::select_scatter.out", self, src, 0, 0, out),
                    ErrorCode::kInvalidArgument, "shape"));
}

TEST(SplitCopy, CoversAllElements) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 5}, count_up(10));
  Tensor& a = call.make(ScalarType::kFloat, {2, 2});
  Tensor& b = call.make(ScalarType::kFloat, {2, 2});
  Tensor& c = call.make(ScalarType::kFloat, {2, 1});
  ASSERT_TRUE(
      succeeds(call.run("aten::split_copy.Tensor_out", self, 2, 1, call.tensors({&a, &b, &c}))));
  EXPECT_THAT(values_of<float>(a), ElementsAre(0, 1, 5, 6));
  EXPECT_THAT(values_of<float>(b), ElementsAre(2, 3, 7, 8));
  EXPECT_THAT(values_of<float>(c), ElementsAre(4, 9));
  ASSERT_TRUE(succeeds(call.run("aten::split_with_sizes_copy.out", self, call.ints({1, 2, 2}), -1,
                                call.tensors({&c, &a, &b}))));
  EXPECT_THAT(values_of<float>(c), ElementsAre(0, 5));
  EXPECT_THAT(values_of<float>(b), ElementsAre(3, 4, 8, 9));
  EXPECT_TRUE(fails(call.run("aten::split_with_sizes_copy.out", self, call.ints({1, 2}), 1,
                             call.tensors({&c, &a})),
                    ErrorCode::kInvalidArgument, "3 elements in total"));
  EXPECT_TRUE(fails(call.run("aten::split_copy.Tensor_out", self, 2, 1, call.tensors({&a, &b})),
                    ErrorCode::kInvalidArgument, "3 parts, got 2"));
  EXPECT_TRUE(fails(call.run("aten::split_copy.Tensor_out", self, 0, 1, call.tensors({&a})),
                    ErrorCode::kInvalidArgument, "split_size"));
}

TEST(UnbindCopy, ReturnsEverySlice) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, count_up(4));
  Tensor& a = call.make(ScalarType::kFloat, {2});
  Tensor& b = call.make(ScalarType::kFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::unbind_copy.int_out", self, 1, call.tensors({&a, &b}))));
  EXPECT_THAT(values_of<float>(a), ElementsAre(0, 2));
  EXPECT_THAT(values_of<float>(b), ElementsAre(1, 3));
}

TEST(Cat, PromotesDtypesAndSkipsEmptyTensors) {
  KernelCall call;
  Tensor& a = call.make<int32_t>({1, 2}, {1, 2});
  Tensor& empty = call.make<float>({0}, {});
  Tensor& b = call.make<Half>({2, 2}, {Half(0.5f), Half(1.5f), Half(2.5f), Half(3.5f)});
  Tensor& out = call.make(ScalarType::kFloat, {3, 2});
  ASSERT_TRUE(succeeds(call.run("aten::cat.out", call.tensors({&a, &empty, &b}), 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 0.5f, 1.5f, 2.5f, 3.5f));
  Tensor& ints = call.make(ScalarType::kInt, {3, 2});
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({&a, &b}), 0, ints),
                    ErrorCode::kInvalidArgument, "f16"));
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({&a, &b}), 1, out),
                    ErrorCode::kInvalidArgument, "input 1"));
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({}), 1, out),
                    ErrorCode::kInvalidArgument, "at least one tensor"));
  Tensor& scalar = call.make<float>({}, {1});
  EXPECT_TRUE(fails(call.run("aten::cat.out", call.tensors({&scalar}), 0, out),
                    ErrorCode::kInvalidArgument, "0-d"));
}

TEST(Cat, AcceptsAnyDimOrder) {
  KernelCall call;
  Tensor& a = call.make<float>({1, 2, 1, 2}, {0, 2, 1, 3}, {0, 2, 3, 1});
  Tensor& b = call.make<float>({1, 1, 1, 2}, {4, 5});
  Tensor& out = call.make(ScalarType::kFloat, {1, 3, 1, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(succeeds(call.run("aten::cat.out", call.tensors({&a, &b}), 1, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(Stack, InsertsDimension) {
  KernelCall call;
  Tensor& a = call.make<float>({2}, {1, 2});
  Tensor& b = call.make<float>({2}, {3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::stack.out", call.tensors({&a, &b}), -1, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 3, 2, 4));
  Tensor& c = call.make<float>({1}, {3});
  EXPECT_FALSE(call.run("aten::stack.out", call.tensors({&a, &c}), 0, out).ok());
}

TEST(Flip, ReversesSeveralDimensions) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::flip.out", self, call.ints({0, -1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(5, 4, 3, 2, 1, 0));
  ASSERT_TRUE(succeeds(call.run("aten::flip.out", self, call.ints({1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 1, 0, 5, 4, 3));
}

TEST(Repeat, RepeatsAndAddsDimensions) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 2}, {1, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 4});
  ASSERT_TRUE(succeeds(call.run("aten::repeat.out", self, call.ints({2, 2, 2}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2));
  Tensor& none = call.make(ScalarType::kFloat, {0, 2});
  EXPECT_TRUE(succeeds(call.run("aten::repeat.out", self, call.ints({0, 1}), none)));
  EXPECT_FALSE(call.run("aten::repeat.out", self, call.ints({2}), out).ok());
  EXPECT_FALSE(call.run("aten::repeat.out", self, call.ints({-1, 2}), out).ok());
  EXPECT_FALSE(call.run("aten::repeat.out", self, call.ints({INT64_MAX, INT64_MAX}), none).ok());
}

TEST(Roll, RollsDimensionsOrAllElements) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(
      succeeds(call.run("aten::roll.out", self, call.ints({1, -1}), call.ints({1, 0}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(5, 3, 4, 2, 0, 1));
  ASSERT_TRUE(succeeds(call.run("aten::roll.out", self, call.ints({-7}), call.ints({}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3, 4, 5, 0));
  ASSERT_TRUE(
      succeeds(call.run("aten::roll.out", self, call.ints({1, 1}), call.ints({1, 1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 0, 4, 5, 3));
  EXPECT_FALSE(call.run("aten::roll.out", self, call.ints({1}), call.ints({0, 1}), out).ok());
}

TEST(Pad, SupportsConstantReflectAndReplicateModes) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 4}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {1, 7});
  ASSERT_TRUE(succeeds(call.run("aten::constant_pad_nd.out", self, call.ints({1, 2}), 9.5, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(9.5f, 0, 1, 2, 3, 9.5f, 9.5f));
  ASSERT_TRUE(succeeds(call.run("aten::reflection_pad1d.out", self, call.ints({2, 1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 1, 0, 1, 2, 3, 2));
  ASSERT_TRUE(succeeds(call.run("aten::replication_pad1d.out", self, call.ints({2, 1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 0, 1, 2, 3, 3));
}

TEST(Pad, CropsIfPaddingIsNegative) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 4}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {1, 3});
  ASSERT_TRUE(succeeds(call.run("aten::constant_pad_nd.out", self, call.ints({-2, 1}), 9, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 3, 9));
  ASSERT_TRUE(succeeds(call.run("aten::constant_pad_nd.out", self, call.ints({4, -5}), 9, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(9, 9, 9));
  ASSERT_TRUE(succeeds(call.run("aten::reflection_pad1d.out", self, call.ints({2, -3}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 1, 0));
  ASSERT_TRUE(succeeds(call.run("aten::replication_pad1d.out", self, call.ints({-3, 2}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 3, 3));
}

TEST(Pad, RejectsExcessivePadding) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 4}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {1, 8});
  EXPECT_FALSE(call.run("aten::reflection_pad1d.out", self, call.ints({4, 0}), out).ok());
  EXPECT_FALSE(call.run("aten::reflection_pad1d.out", self, call.ints({4}), out).ok());
  EXPECT_FALSE(call.run("aten::replication_pad1d.out", self, call.ints({-4, 0}), out).ok());
  EXPECT_FALSE(call.run("aten::replication_pad1d.out", self, call.ints({INT64_MAX, 1}), out).ok());
  EXPECT_FALSE(call.run("aten::constant_pad_nd.out", self, call.ints({1}), 0, out).ok());
  EXPECT_FALSE(call.run("aten::constant_pad_nd.out", self, call.ints({-5, 0}), 0, out).ok());
  EXPECT_FALSE(
      call.run("aten::constant_pad_nd.out", self, call.ints({INT64_MIN, INT64_MIN}), 0, out).ok());
}

TEST(Pad, ReflectsTwoDimensions) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 2, 2}, count_up(4));
  Tensor& out = call.make(ScalarType::kFloat, {1, 4, 3});
  ASSERT_TRUE(succeeds(call.run("aten::reflection_pad2d.out", self, call.ints({1, 0, 1, 1}), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 2, 3, 1, 0, 1, 3, 2, 3, 1, 0, 1));
}

TEST(ToCopy, ConvertsLikePyTorch) {
  KernelCall call;
  Tensor& self = call.make<float>({4}, {-1.5f, 300.0f, 0.25f, NAN});
  Tensor& bytes = call.make(ScalarType::kByte, {4});
  ASSERT_TRUE(succeeds(call.run("aten::_to_copy.out", self, false, call.none(), bytes)));
  EXPECT_THAT(values_of<uint8_t>(bytes), ElementsAre(255, 44, 0, 0));
  Tensor& truths = call.make(ScalarType::kBool, {4});
  ASSERT_TRUE(succeeds(call.run("aten::_to_copy.out", self, false, call.none(), truths)));
  EXPECT_THAT(values_of<uint8_t>(truths), ElementsAre(1, 1, 1, 1));
}

TEST(ToDimOrderCopy, ReordersAndConverts) {
  KernelCall call;
  Tensor& self = call.make<float>({1, 2, 2, 2}, count_up(8));
  Tensor& out = call.make(ScalarType::kInt, {1, 2, 2, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(succeeds(call.run("dim_order_ops::_to_dim_order_copy.out", self, false,
                                call.ints({0, 2, 3, 1}), out)));
  EXPECT_THAT(values_of<int32_t>(out), ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_TRUE(fails(
      call.run("dim_order_ops::_to_dim_order_copy.out", self, false, call.ints({0, 1, 2, 3}), out),
      ErrorCode::kInvalidArgument, "dim_order"));
}

TEST(Copy, BroadcastsIntoSelf) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, count_up(4));
  Tensor& src = call.make<int64_t>({2}, {5, 6});
  ASSERT_TRUE(succeeds(call.run("aten::copy_", self, src, false)));
  EXPECT_THAT(values_of<float>(self), ElementsAre(5, 6, 5, 6));
  Tensor& wide = call.make<float>({3}, {1, 2, 3});
  EXPECT_TRUE(
      fails(call.run("aten::copy_", self, wide, false), ErrorCode::kInvalidArgument, "broadcast"));
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
  KernelCall call;
  Tensor& self = call.make<float>({6}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  const auto run = [&](std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides,
                       int64_t offset) {
    return call.run("aten::as_strided_copy.out", self, call.ints(sizes), call.ints(strides),
                    EValue(offset), out);
  };
  ASSERT_TRUE(succeeds(run({2, 2}, {1, 2}, 2)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 4, 3, 5));
  EXPECT_FALSE(run({2, 2}, {1, 2}, 3).ok());
  EXPECT_FALSE(run({2, 2}, {-1, 2}, 2).ok());
  EXPECT_FALSE(run({2, 2}, {1, 2}, -1).ok());
  EXPECT_FALSE(run({2, 2}, {INT64_MAX, INT64_MAX}, 2).ok());
  EXPECT_FALSE(run({2, 2}, {1}, 0).ok());
}

TEST(DiagonalCopy, AcceptsAnyOffset) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, count_up(6));
  Tensor& out = call.make(ScalarType::kFloat, {3}, {}, kDynamic);
  ASSERT_TRUE(succeeds(call.run("aten::diagonal_copy.out", self, 1, 0, 1, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 5));
  ASSERT_TRUE(succeeds(call.run("aten::diagonal_copy.out", self, 1, 1, 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3));
  ASSERT_TRUE(succeeds(call.run("aten::diagonal_copy.out", self, INT64_MIN, 0, 1, out)));
  EXPECT_EQ(out.numel(), 0);
  EXPECT_FALSE(call.run("aten::diagonal_copy.out", self, 0, 1, -1, out).ok());
}

TEST(UnfoldCopy, CopiesOverlappingWindows) {
  KernelCall call;
  Tensor& self = call.make<float>({5}, count_up(5));
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::unfold_copy.out", self, 0, 3, 2, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_FALSE(call.run("aten::unfold_copy.out", self, 0, 6, 1, out).ok());
  EXPECT_FALSE(call.run("aten::unfold_copy.out", self, 0, 3, 0, out).ok());
}

TEST(PixelShuffle, UnshuffleRestoresInput) {
  KernelCall call;
  Tensor& self = call.make<float>({4, 1, 2}, count_up(8));
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 4});
  ASSERT_TRUE(succeeds(call.run("aten::pixel_shuffle.out", self, 2, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  Tensor& back = call.make(ScalarType::kFloat, {4, 1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::pixel_unshuffle.out", out, 2, back)));
  EXPECT_THAT(values_of<float>(back), ElementsAreArray(count_up(8)));
  EXPECT_FALSE(call.run("aten::pixel_shuffle.out", self, 3, out).ok());
  EXPECT_FALSE(call.run("aten::pixel_shuffle.out", self, 0, out).ok());
  EXPECT_FALSE(call.run("aten::pixel_unshuffle.out", out, INT64_MIN, back).ok());
}

TEST(Tril, KeepsTheLowerTriangle) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor& out = call.make(ScalarType::kFloat, {2, 3});
  ASSERT_TRUE(succeeds(call.run("aten::tril.out", self, 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 0, 0, 4, 5, 0));
  ASSERT_TRUE(succeeds(call.run("aten::tril.out", self, INT64_MAX, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_TRUE(succeeds(call.run("aten::tril.out", self, INT64_MIN, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST(ViewAsRealCopy, SplitsRealAndImaginaryParts) {
  KernelCall call;
  Tensor& self = call.make(ScalarType::kComplexFloat, {2});
  for (int i = 0; i < 4; ++i) self.unchecked_mutable_data<float>()[i] = static_cast<float>(i);
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::view_as_real_copy.out", self, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(call.run("aten::view_as_real_copy.out", out, out).ok());
}

TEST(ViewAsComplexCopy, JoinsRealAndImaginaryParts) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {0, 1, 2, 3});
  Tensor& out = call.make(ScalarType::kComplexFloat, {2});
  ASSERT_TRUE(succeeds(call.run("aten::view_as_complex_copy.out", self, out)));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out.unchecked_data<float>()[i], static_cast<float>(i));
}

TEST(ViewAsComplexCopy, RejectsUnsupportedShapesAndDtypes) {
  KernelCall call;
  Tensor& out = call.make(ScalarType::kComplexFloat, {2});
  for (Tensor* self : {&call.make<float>({2, 3}, {0, 1, 2, 3, 4, 5}), &call.make<float>({}, {0}),
                       &call.make<double>({2, 2}, {0, 1, 2, 3})}) {
    EXPECT_FALSE(call.run("aten::view_as_complex_copy.out", *self, out).ok());
  }
}

}  // namespace
}  // namespace vitrine::test
