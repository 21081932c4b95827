// Tests index, index_put, embedding, gather, scatter, masks and distinct elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "test/kernels/kernel_call.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

class Index : public testing::Test {
 protected:
  KernelCall call;
  // self[i][j][k] = 100 i + 10 j + k
  Tensor& self = call.make<float>({2, 2, 3}, {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});

  Error index(std::initializer_list<Tensor*> indices, Tensor& out) {
    return call.run("aten::index.Tensor_out", self, call.tensors(indices, true), out);
  }
};

TEST_F(Index, WrapsNegativeIndicesAndKeepsOtherDimensions) {
  Tensor& first = call.make<int64_t>({2}, {1, -2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 3});
  ASSERT_TRUE(succeeds(index({&first}, out)));
  EXPECT_THAT(values_of<float>(out),
              ElementsAre(100, 101, 102, 110, 111, 112, 0, 1, 2, 10, 11, 12));
}

TEST_F(Index, AdjacentIndexedDimensionsStayInPlace) {
  Tensor& rows = call.make<int64_t>({2, 1}, {0, 1});
  Tensor& columns = call.make<int32_t>({2}, {2, 0});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 2});
  ASSERT_TRUE(succeeds(index({nullptr, &rows, &columns}, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 0, 12, 10, 102, 100, 112, 110));
}

TEST_F(Index, SeparatedIndexedDimensionsComeFirst) {
  Tensor& a = call.make<int64_t>({3}, {0, 1, 1});
  Tensor& c = call.make<int64_t>({3}, {2, 1, 0});
  Tensor& out = call.make(ScalarType::kFloat, {3, 2});
  ASSERT_TRUE(succeeds(index({&a, nullptr, &c}, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 12, 101, 111, 100, 110));
}

TEST_F(Index, MasksSelectAlongTheMaskedDimensions) {
  Tensor& mask = call.make(ScalarType::kBool, {2, 2});
  const uint8_t bytes[] = {0, 1, 255, 0};  // any byte but zero is true
  std::copy(bytes, bytes + 4, mask.unchecked_mutable_data<uint8_t>());
  Tensor& out = call.make(ScalarType::kFloat, {4, 3}, {}, kDynamic);
  ASSERT_TRUE(succeeds(index({&mask}, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(10, 11, 12, 100, 101, 102));
  std::fill_n(mask.unchecked_mutable_data<uint8_t>(), 4, uint8_t{0});
  ASSERT_TRUE(succeeds(index({&mask}, out)));
  EXPECT_EQ(out.numel(), 0);
}

TEST_F(Index, ReadsAnyDimOrder) {
  // The same elements as self, with the last dimension outermost in memory.
  Tensor& permuted =
      call.make<float>({2, 2, 3}, {0, 10, 100, 110, 1, 11, 101, 111, 2, 12, 102, 112}, {2, 0, 1});
  Tensor& last = call.make<int64_t>({1}, {-1});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::index.Tensor_out", permuted,
                                call.tensors({nullptr, nullptr, &last}, true), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 12, 102, 112));
}

TEST_F(Index, RejectsInvalidIndices) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 3});
  for (const int64_t bad : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(fails(index({&call.make<int64_t>({1}, {bad})}, out), kBad, "out of range"));
  }
  EXPECT_TRUE(fails(index({&call.make<float>({1}, {0})}, out), kBad, "f32"));
  EXPECT_TRUE(fails(index({&call.make<uint8_t>({3}, {1, 1, 1})}, out), kBad, "mask"));
  EXPECT_TRUE(fails(index({&call.make<uint8_t>({}, {1})}, out), kBad, "0-d mask"));
  Tensor& zero = call.make<int64_t>({1}, {0});
  EXPECT_TRUE(fails(index({&zero, &zero, &zero, &zero}, out), kBad, "more indices"));
  Tensor& two = call.make<int64_t>({2}, {0, 0});
  Tensor& three = call.make<int64_t>({3}, {0, 0, 0});
  EXPECT_TRUE(fails(index({&two, &three}, out), kBad, "broadcast"));
}

TEST_F(Index, IndexPutWritesOrAccumulates) {
  Tensor& a = call.make<int64_t>({3}, {0, 1, 0});
  Tensor& c = call.make<int64_t>({3}, {2, 1, -1});
  Tensor& values = call.make<float>({1}, {1000});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 3});
  const EValue indices = call.tensors({&a, nullptr, &c}, true);
  ASSERT_TRUE(succeeds(call.run("aten::index_put.out", self, indices, values, true, out)));
  EXPECT_THAT(values_of<float>(out),
              ElementsAre(0, 1, 2002, 10, 11, 2012, 100, 1101, 102, 110, 1111, 112));
  ASSERT_TRUE(succeeds(call.run("aten::index_put_", self, indices, values, false)));
  EXPECT_THAT(values_of<float>(self),
              ElementsAre(0, 1, 1000, 10, 11, 1000, 100, 1000, 102, 110, 1000, 112));
  Tensor& wide = call.make<float>({4}, {1, 2, 3, 4});
  EXPECT_TRUE(fails(call.run("aten::index_put_", self, indices, wide, false), kBad, "broadcast"));
  Tensor& ints = call.make<int32_t>({1}, {1});
  EXPECT_TRUE(fails(call.run("aten::index_put_", self, indices, ints, false), kBad, "i32"));
}

TEST_F(Index, IndexPutChecksIndicesBeforeWriting) {
  Tensor& a = call.make<int64_t>({2}, {0, 2});
  Tensor& value = call.make<float>({}, {7});
  const std::vector<float> before = values_of<float>(self);
  EXPECT_FALSE(call.run("aten::index_put_", self, call.tensors({&a}, true), value, false).ok());
  EXPECT_EQ(values_of<float>(self), before);
}

TEST(Embedding, ReturnsRows) {
  KernelCall call;
  Tensor& weight = call.make<Half>({3, 2}, {Half(0), Half(1), Half(2), Half(3), Half(4), Half(5)});
  Tensor& indices = call.make<int32_t>({1, 2}, {2, 0});
  Tensor& out = call.make(ScalarType::kHalf, {1, 2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::embedding.out", weight, indices, -1, false, false, out)));
  EXPECT_EQ(float(out.data<Half>()[0]), 4);
  EXPECT_EQ(float(out.data<Half>()[3]), 1);
  for (const int32_t bad : {3, -1}) {
    Tensor& wrong = call.make<int32_t>({1, 2}, {0, bad});
    EXPECT_TRUE(fails(call.run("aten::embedding.out", weight, wrong, -1, false, false, out), kBad,
                      "out of range"));
  }
  Tensor& floats = call.make<float>({1, 2}, {0, 0});
  EXPECT_FALSE(call.run("aten::embedding.out", weight, floats, -1, false, false, out).ok());
}

TEST(IndexSelect, AcceptsZeroDimensionalTensors) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  Tensor& index = call.make<int64_t>({2}, {2, 2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::index_select.out", self, -1, index, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 2, 5, 5));
  Tensor& one = call.make<int64_t>({}, {1});
  Tensor& column = call.make(ScalarType::kFloat, {2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::index_select.out", self, 1, one, column)));
  EXPECT_THAT(values_of<float>(column), ElementsAre(1, 4));
  Tensor& scalar = call.make<float>({}, {7});
  Tensor& zero = call.make<int64_t>({1}, {0});
  Tensor& same = call.make(ScalarType::kFloat, {});
  ASSERT_TRUE(succeeds(call.run("aten::index_select.out", scalar, 0, zero, same)));
  EXPECT_EQ(same.data<float>()[0], 7);
}

TEST(Gather, SelectsAlongDimension) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  Tensor& index = call.make<int64_t>({1, 2}, {1, 0});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::gather.out", self, 0, index, false, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 1));
  Tensor& bad = call.make<int64_t>({1, 2}, {1, 2});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, bad, false, out), kBad, "index 2"));
  Tensor& wide = call.make<int64_t>({1, 4}, {0, 0, 0, 0});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, wide, false, out), kBad, "larger"));
  Tensor& flat = call.make<int64_t>({2}, {0, 0});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, flat, false, out), kBad, "rank"));
}

TEST(Scatter, LastWriteWinsButScatterAddAddsAllValues) {
  KernelCall call;
  Tensor& self = call.make<float>({3}, {10, 20, 30});
  Tensor& index = call.make<int64_t>({3}, {2, 0, 2});
  Tensor& src = call.make<float>({4}, {1, 2, 3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {3});
  ASSERT_TRUE(succeeds(call.run("aten::scatter.src_out", self, 0, index, src, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 20, 3));
  ASSERT_TRUE(succeeds(call.run("aten::scatter.value_out", self, 0, index, 0.5, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0.5f, 20, 0.5f));
  ASSERT_TRUE(succeeds(call.run("aten::scatter_add.out", self, 0, index, src, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(12, 20, 34));
  Tensor& few = call.make<float>({2}, {1, 2});
  EXPECT_TRUE(fails(call.run("aten::scatter.src_out", self, 0, index, few, out), kBad, "larger"));
  Tensor& bad = call.make<int64_t>({1}, {-1});
  EXPECT_TRUE(fails(call.run("aten::scatter_add.out", self, 0, bad, src, out), kBad, "index -1"));
}

// Computes a scatter with a reduction by its definition.
std::vector<double> scattered(std::vector<double> self, const std::vector<int64_t>& index,
                              const std::vector<double>& src, std::string_view reduce,
                              bool include_self, bool is_integer) {
  for (size_t at = 0; at < self.size(); ++at) {
    std::vector<double> all;
    if (include_self) all.push_back(self[at]);
    for (size_t i = 0; i < index.size(); ++i) {
      if (index[i] == static_cast<int64_t>(at)) all.push_back(src[i]);
    }
    if (all.empty()) continue;
    double result = all[0];
    for (size_t i = 1; i < all.size(); ++i) {
      if (reduce == "sum" || reduce == "mean") result += all[i];
      if (reduce == "prod") result *= all[i];
      if (reduce == "amax") result = std::max(result, all[i]);
      if (reduce == "amin") result = std::min(result, all[i]);
    }
    if (reduce == "mean") result /= static_cast<double>(all.size());
    self[at] = is_integer ? std::floor(result) : result;
  }
  return self;
}

TEST(ScatterReduce, SupportsEveryReductionOfFloatsAndIntegers) {
  const std::vector<double> self = {-7, 2, 3, 9};
  const std::vector<int64_t> indices = {2, 0, 2, 1, 0, 2};
  const std::vector<double> src = {5, -3, 1, 4, -6, 2};
  for (const char* reduce : {"sum", "prod", "mean", "amax", "amin"}) {
    for (const bool include_self : {true, false}) {
      SCOPED_TRACE(reduce);
      KernelCall call;
      Tensor& index = call.make<int64_t>({6}, indices);
      Tensor& floats = call.make<float>({4}, {self.begin(), self.end()});
      Tensor& more = call.make<float>({6}, {src.begin(), src.end()});
      Tensor& out = call.make(ScalarType::kFloat, {4});
      ASSERT_TRUE(succeeds(call.run("aten::scatter_reduce.two_out", floats, 0, index, more, reduce,
                                    include_self, out)));
      const auto expected = scattered(self, indices, src, reduce, include_self, false);
      EXPECT_THAT(values_of<float>(out),
                  testing::Pointwise(testing::FloatEq(),
                                     std::vector<float>(expected.begin(), expected.end())));
      Tensor& integers = call.make<int32_t>({4}, {-7, 2, 3, 9});
      Tensor& more_integers = call.make<int32_t>({6}, {5, -3, 1, 4, -6, 2});
      Tensor& result = call.make(ScalarType::kInt, {4});
      ASSERT_TRUE(succeeds(call.run("aten::scatter_reduce.two_out", integers, 0, index,
                                    more_integers, reduce, include_self, result)));
      EXPECT_THAT(values_of<int32_t>(result),
                  testing::Pointwise(testing::Eq(),
                                     scattered(self, indices, src, reduce, include_self, true)));
    }
  }
}

TEST(ScatterReduce, PropagatesNanAndAcceptsSmallAndEmptyIndices) {
  KernelCall call;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Tensor& self = call.make<float>({2, 2}, {1, 2, 3, 4});
  Tensor& src = call.make<float>({2, 2}, {kNaN, 7, 5, 9});
  Tensor& index = call.make<int64_t>({1, 2}, {1, 0});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(
      succeeds(call.run("aten::scatter_reduce.two_out", self, 1, index, src, "amax", true, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(7, testing::IsNan(), 3, 4));
  Tensor& none = call.make<int64_t>({0, 2}, {});
  ASSERT_TRUE(
      succeeds(call.run("aten::scatter_reduce.two_out", self, 1, none, src, "mean", false, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2, 3, 4));
  EXPECT_TRUE(fails(call.run("aten::scatter_reduce.two_out", self, 1, index, src, "max", true, out),
                    kBad, "reduce is max; expected sum, prod, mean, amax or amin"));
}

TEST(MaskedSelectAndScatter, BroadcastTheMask) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {1, 2, 3, 4});
  Tensor& mask = call.make<uint8_t>({2}, {0, 1});
  Tensor& out = call.make(ScalarType::kFloat, {4}, {}, kDynamic);
  ASSERT_TRUE(succeeds(call.run("aten::masked_select.out", self, mask, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 4));
  Tensor& source = call.make<float>({3}, {7, 8, 9});
  Tensor& result = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(succeeds(call.run("aten::masked_scatter.out", self, mask, source, result)));
  EXPECT_THAT(values_of<float>(result), ElementsAre(1, 7, 3, 8));
  Tensor& few = call.make<float>({1}, {7});
  EXPECT_TRUE(fails(call.run("aten::masked_scatter.out", self, mask, few, result), kBad,
                    "the mask selects 2 elements"));
}

TEST(Nonzero, ReturnsIndices) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {0, NAN, -0.0f, 2});
  Tensor& out = call.make(ScalarType::kLong, {4, 2}, {}, kDynamic);
  ASSERT_TRUE(succeeds(call.run("aten::nonzero.out", self, out)));
  EXPECT_THAT(values_of<int64_t>(out), ElementsAre(0, 1, 1, 1));
}

// These operators read an input once to count its elements and once to write the output. An
// overlapping output would change the input in between.
TEST(Overlap, RejectsOutputThatOverlapsAnInputReadTwice) {
  constexpr const char* kMessage = "the output overlaps the memory of an input";
  for (const int64_t offset : {0, 4, -4}) {
    KernelCall call;
    Tensor& self = call.make<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8});
    Tensor& mask = call.make<uint8_t>({8}, {1, 0, 0, 0, 0, 0, 1, 0});
    Tensor& out = call.make(ScalarType::kFloat, {8}, {}, kDynamic);
    call.overlap(mask, out, offset);
    EXPECT_TRUE(fails(call.run("aten::masked_select.out", self, mask, out), kBad, kMessage));
    Tensor& nonzero_indices = call.make(ScalarType::kLong, {8, 1}, {}, kDynamic);
    call.overlap(nonzero_indices, self, offset);
    EXPECT_TRUE(fails(call.run("aten::nonzero.out", self, nonzero_indices), kBad, kMessage));
    Tensor& repeats = call.make<int64_t>({3}, {2, 0, 1});
    Tensor& repeated = call.make(ScalarType::kLong, {8}, {}, kDynamic);
    call.overlap(repeated, repeats, offset);
    EXPECT_TRUE(
        fails(call.run("aten::repeat_interleave.Tensor_out", repeats, KernelCall::none(), repeated),
              kBad, kMessage));
  }
}

TEST(RepeatInterleave, RepeatsIndices) {
  KernelCall call;
  Tensor& repeats = call.make<int32_t>({3}, {2, 0, 1});
  Tensor& out = call.make(ScalarType::kInt, {3});
  ASSERT_TRUE(succeeds(call.run("aten::repeat_interleave.Tensor_out", repeats, call.none(), out)));
  EXPECT_THAT(values_of<int32_t>(out), ElementsAre(0, 0, 2));
  EXPECT_TRUE(fails(call.run("aten::repeat_interleave.Tensor_out", repeats, 4, out), kBad, "sum"));
  Tensor& bad = call.make<int32_t>({2}, {4, -1});
  EXPECT_FALSE(call.run("aten::repeat_interleave.Tensor_out", bad, call.none(), out).ok());
}

Error copy_index(Tensor& target, Tensor& row, int64_t at) {
  KernelRegistry registry;
  EXPECT_TRUE(succeeds(registry.add("portable", portable::kernels())));
  const Kernel* kernel = registry.find("executorch_prim::et_copy_index.tensor").kernel;
  EXPECT_EQ(kernel->num_arguments, 3);  // the result is the first argument
  EValue values[] = {EValue(&target), EValue(&row), EValue(at)};
  EValue* arguments[] = {&values[0], &values[1], &values[2]};
  HeapArena temp;
  KernelContext context(&temp);
  kernel->function(context, arguments);
  return context.take_error();
}

TEST(EtCopyIndex, ResizesTarget) {
  KernelCall call;
  Tensor& target = call.make(ScalarType::kFloat, {3, 2}, {}, kDynamic);
  Tensor& row = call.make<float>({2}, {5, 6});
  ASSERT_TRUE(succeeds(copy_index(target, row, 0)));
  ASSERT_TRUE(succeeds(copy_index(target, row, 1)));
  EXPECT_THAT(target.sizes(), ElementsAre(2, 2));
  EXPECT_THAT(values_of<float>(target), ElementsAre(5, 6, 5, 6));
  for (const int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX}) {
    EXPECT_FALSE(copy_index(target, row, bad).ok());
  }
}

// The first row determines the shape of the result. ExecuTorch only checks that later rows have the
// same shape.
TEST(EtCopyIndex, FirstRowDeterminesTheShapeOfRows) {
  KernelCall call;
  Tensor& target = call.make(ScalarType::kFloat, {2, 4}, {}, kDynamic);
  Tensor& row = call.make<float>({3}, {5, 6, 7});
  ASSERT_TRUE(succeeds(copy_index(target, row, 0)));
  ASSERT_TRUE(succeeds(copy_index(target, row, 1)));
  EXPECT_THAT(target.sizes(), ElementsAre(2, 3));
  EXPECT_THAT(values_of<float>(target), ElementsAre(5, 6, 7, 5, 6, 7));
  Tensor& longer = call.make<float>({4}, {1, 2, 3, 4});
  EXPECT_TRUE(fails(copy_index(target, longer, 1), kBad, "the shapes differ"));
  Tensor& too_long = call.make<float>({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_FALSE(copy_index(target, too_long, 0).ok());
}

TEST(EtCopyIndex, StaticTargetKeepsItsSize) {
  KernelCall call;
  Tensor& target = call.make<float>({2, 2}, {0, 0, 0, 0});
  Tensor& row = call.make<float>({2}, {5, 6});
  ASSERT_TRUE(succeeds(copy_index(target, row, 0)));
  EXPECT_THAT(values_of<float>(target), ElementsAre(5, 6, 0, 0));
  ASSERT_TRUE(succeeds(copy_index(target, row, 1)));
  EXPECT_THAT(values_of<float>(target), ElementsAre(5, 6, 5, 6));
  EXPECT_FALSE(copy_index(target, row, 2).ok());
  EXPECT_FALSE(copy_index(target, call.make<float>({1}, {5}), 0).ok());
}

TEST(Unique, SortsAndCountsElements) {
  KernelCall call;
  Tensor& self = call.make<int32_t>({2, 3}, {3, -1, 3, 7, -1, 3});
  Tensor& values = call.make(ScalarType::kInt, {6}, {}, kDynamic);
  Tensor& inverse = call.make(ScalarType::kLong, {2, 3}, {}, kDynamic);
  Tensor& counts = call.make(ScalarType::kLong, {6}, {}, kDynamic);
  ASSERT_TRUE(
      succeeds(call.run("aten::_unique2.out", self, true, true, true, values, inverse, counts)));
  EXPECT_THAT(values_of<int32_t>(values), ElementsAre(-1, 3, 7));
  EXPECT_THAT(values_of<int64_t>(inverse), ElementsAre(1, 0, 1, 2, 0, 1));
  EXPECT_THAT(values_of<int64_t>(counts), ElementsAre(2, 3, 1));
  ASSERT_TRUE(succeeds(call.run("aten::unique_consecutive.out", self, true, true, call.none(),
                                values, inverse, counts)));
  EXPECT_THAT(values_of<int32_t>(values), ElementsAre(3, -1, 3, 7, -1, 3));
  Tensor& none = call.make(ScalarType::kLong, {0});
  Tensor& nothing = call.make(ScalarType::kLong, {0});
  ASSERT_TRUE(
      succeeds(call.run("aten::_unique2.out", self, true, false, false, values, none, nothing)));
  EXPECT_THAT(values_of<int32_t>(values), ElementsAre(-1, 3, 7));
}

// Zeros of both signs are equal, and a NaN differs from every element, as in PyTorch.
TEST(Unique, ComparesFloatsLikePyTorch) {
  KernelCall call;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor& self = call.make<float>({7}, {kNaN, 0.0f, kInf, -0.0f, kNaN, -kInf, kInf});
  Tensor& values = call.make(ScalarType::kFloat, {7}, {}, kDynamic);
  Tensor& inverse = call.make(ScalarType::kLong, {7}, {}, kDynamic);
  Tensor& counts = call.make(ScalarType::kLong, {7}, {}, kDynamic);
  ASSERT_TRUE(
      succeeds(call.run("aten::_unique2.out", self, true, true, true, values, inverse, counts)));
  EXPECT_THAT(values_of<float>(values),
              ElementsAre(-kInf, 0, kInf, testing::IsNan(), testing::IsNan()));
  EXPECT_THAT(values_of<int64_t>(inverse), ElementsAre(3, 1, 2, 1, 4, 0, 2));
  EXPECT_THAT(values_of<int64_t>(counts), ElementsAre(1, 2, 2, 1, 1));
  Tensor& empty = call.make<float>({0}, {});
  ASSERT_TRUE(
      succeeds(call.run("aten::_unique2.out", empty, true, true, true, values, inverse, counts)));
  EXPECT_EQ(values.numel(), 0);
}

TEST(Unique, UniqueConsecutiveMergesOnlyNeighbors) {
  KernelCall call;
  Tensor& self = call.make<uint8_t>({6}, {2, 2, 1, 1, 1, 2});
  Tensor& values = call.make(ScalarType::kByte, {6}, {}, kDynamic);
  Tensor& inverse = call.make(ScalarType::kLong, {6}, {}, kDynamic);
  Tensor& counts = call.make(ScalarType::kLong, {6}, {}, kDynamic);
  ASSERT_TRUE(succeeds(call.run("aten::unique_consecutive.out", self, true, true, call.none(),
                                values, inverse, counts)));
  EXPECT_THAT(values_of<uint8_t>(values), ElementsAre(2, 1, 2));
  EXPECT_THAT(values_of<int64_t>(inverse), ElementsAre(0, 0, 1, 1, 1, 2));
  EXPECT_THAT(values_of<int64_t>(counts), ElementsAre(2, 3, 1));
}

TEST(Unique, FindsDistinctSlices) {
  KernelCall call;
  Tensor& self = call.make<int32_t>({2, 4, 2}, {5, 1, 2, 2, 5, 1, 2, 2,  //
                                                0, 0, 3, 1, 0, 0, 3, 0});
  Tensor& values = call.make(ScalarType::kInt, {2, 4, 2}, {}, kDynamic);
  Tensor& inverse = call.make(ScalarType::kLong, {4}, {}, kDynamic);
  Tensor& counts = call.make(ScalarType::kLong, {4}, {}, kDynamic);
  ASSERT_TRUE(succeeds(
      call.run("aten::unique_dim.out", self, 1, true, true, true, values, inverse, counts)));
  EXPECT_THAT(values.sizes(), ElementsAre(2, 3, 2));
  EXPECT_THAT(values_of<int32_t>(values), ElementsAre(2, 2, 2, 2, 5, 1, 3, 0, 3, 1, 0, 0));
  EXPECT_THAT(values_of<int64_t>(inverse), ElementsAre(2, 1, 2, 0));
  EXPECT_THAT(values_of<int64_t>(counts), ElementsAre(1, 1, 2));

  Tensor& rows = call.make<float>({4, 2}, {1, 2, 1, 2, 0, 9, 1, 2});
  Tensor& merged = call.make(ScalarType::kFloat, {4, 2}, {}, kDynamic);
  ASSERT_TRUE(succeeds(
      call.run("aten::unique_consecutive.out", rows, true, true, 0, merged, inverse, counts)));
  EXPECT_THAT(values_of<float>(merged), ElementsAre(1, 2, 0, 9, 1, 2));
  EXPECT_THAT(values_of<int64_t>(inverse), ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(values_of<int64_t>(counts), ElementsAre(2, 1, 1));

  Tensor& none = call.make<float>({2, 0}, {});
  EXPECT_FALSE(
      call.run("aten::unique_dim.out", none, 0, true, true, true, merged, inverse, counts).ok());
}

TEST(Histogram, CountsElementsInBins) {
  KernelCall call;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  Tensor& self = call.make<float>({8}, {0, 0.5f, 1, 1.5f, 2, -1, 3, kNaN});
  Tensor& out = call.make(ScalarType::kFloat, {4});
  // The bins have width 0.5, and the last one includes 2. NaN and elements outside of the bins are
  // not counted.
  ASSERT_TRUE(succeeds(call.run("aten::histc.out", self, 4, 0.0, 2.0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 1, 1, 2));
  // If the limits are equal, the bins cover the range of the elements. If all elements are equal,
  // the bins extend by 1 on each side of them.
  Tensor& some = call.make<float>({3}, {4, 6, 8});
  ASSERT_TRUE(succeeds(call.run("aten::histc.out", some, 4, 0, 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 0, 1, 1));
  Tensor& one = call.make<float>({2}, {5, 5});
  ASSERT_TRUE(succeeds(call.run("aten::histc.out", one, 4, 0, 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 2, 0));
  Tensor& empty = call.make<float>({0}, {});
  ASSERT_TRUE(succeeds(call.run("aten::histc.out", empty, 4, 0, 0, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, 0, 0, 0));
  EXPECT_TRUE(fails(call.run("aten::histc.out", self, 4, 0, 0, out), kBad, "is not valid"));
  EXPECT_TRUE(fails(call.run("aten::histc.out", one, 4, 2, 1, out), kBad, "from 2 to 1"));
  EXPECT_TRUE(fails(call.run("aten::histc.out", one, 0, 0, 1, out), kBad, "bins is 0"));
}

}  // namespace
}  // namespace vitrine::test
