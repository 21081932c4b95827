// Tests index, index_put, embedding, gather, scatter, masks and distinct elements.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "test/kernels/kernel_call.h"
#include "test/kernels/kernel_cases.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

// self[i][j][k] = 100 i + 10 j + k
const std::string kSelf = "f32[2,2,3]{0,1,2,10,11,12,100,101,102,110,111,112} ";

TEST(Index, WrapsNegativeIndicesAndKeepsOtherDimensions) {
  check_kernel("aten::index.Tensor_out",
               {{kSelf + "?(i64[2]{1,-2}) !f32[2,2,3]", "100,101,102,110,111,112,0,1,2,10,11,12"}});
}

TEST(Index, PutsIndexedDimensionsFirstUnlessAdjacent) {
  check_kernel(
      "aten::index.Tensor_out",
      {{kSelf + "?(none,i64[2,1]{0,1},i32[2]{2,0}) !f32[2,2,2]", "2,0,12,10,102,100,112,110"},
       {kSelf + "?(i64[3]{0,1,1},none,i64[3]{2,1,0}) !f32[3,2]", "2,12,101,111,100,110"}});
}

TEST(Index, MasksSelectAlongTheMaskedDimensions) {
  check_kernel("aten::index.Tensor_out",
               {{kSelf + "?(u8[2,2]{0,1,255,0}) !~f32[4,3]", "10,11,12,100,101,102"},
                {kSelf + "?(bool[2,2]{0,1,1,0}) !~f32[4,3]", "10,11,12,100,101,102"},
                {kSelf + "?(bool[2,2]{0}) !~f32[4,3]", "empty"}});
  KernelCall call;
  Tensor& self = call.make<float>({4}, {0, 1, 2, 3});
  Tensor& mask = call.make(ScalarType::kBool, {4});
  std::ranges::copy(std::initializer_list<uint8_t>{0, 1, 255, 0},  // any byte but zero is true
                    mask.unchecked_mutable_data<uint8_t>());
  Tensor& out = call.output_of(ScalarType::kFloat, {2}, "aten::index.Tensor_out", self,
                               call.tensors({&mask}, true));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1, 2));
}

// The input has the elements of kSelf, with the last dimension outermost in memory.
TEST(Index, ReadsAnyDimOrder) {
  check_kernel("aten::index.Tensor_out",
               {{"f32[2,2,3]:201{0,10,100,110,1,11,101,111,2,12,102,112} ?(none,none,i64[1]{-1}) "
                 "!f32[2,2,1]",
                 "2,12,102,112"}});
}

TEST(Index, RejectsInvalidIndices) {
  const std::string out = " !f32[1,2,3]";
  check_kernel("aten::index.Tensor_out",
               {{kSelf + "?(i64[1]{2})" + out, "error: out of range"},
                {kSelf + "?(i64[1]{-3})" + out, "error: out of range"},
                {kSelf + "?(i64[1]{max})" + out, "error: out of range"},
                {kSelf + "?(i64[1]{min})" + out, "error: out of range"},
                {kSelf + "?(f32[1]{0})" + out, "error: f32"},
                {kSelf + "?(u8[3]{1})" + out, "error: mask"},
                {kSelf + "?(u8[]{1})" + out, "error: 0-d mask"},
                {kSelf + "?(i64[1]{0},i64[1]{0},i64[1]{0},i64[1]{0})" + out, "error: more indices"},
                {kSelf + "?(i64[2]{0},i64[3]{0})" + out, "error: broadcast"}});
}

TEST(Index, IndexPutWritesOrAccumulates) {
  const std::string indices = "?(i64[3]{0,1,0},none,i64[3]{2,1,-1}) ";
  check_kernel("aten::index_put.out", {{kSelf + indices + "f32[1]{1000} true !f32[2,2,3]",
                                        "0,1,2002,10,11,2012,100,1101,102,110,1111,112"}});
  check_kernel("aten::index_put_",
               {{"!" + kSelf + indices + "f32[1]{1000} false",
                 "0,1,1000,10,11,1000,100,1000,102,110,1000,112"},
                {"!" + kSelf + indices + "f32[4]{1,2,3,4} false", "error: broadcast"},
                {"!" + kSelf + indices + "i32[1]{1} false", "error: i32"}});
}

TEST(Index, IndexPutChecksIndicesBeforeWriting) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2, 3}, count_up(12));
  Tensor& a = call.make<int64_t>({2}, {0, 2});
  Tensor& value = call.make<float>({}, {7});
  EXPECT_FALSE(call.run("aten::index_put_", self, call.tensors({&a}, true), value, false).ok());
  EXPECT_EQ(values_of<float>(self), count_up(12));
}

TEST(Embedding, ReturnsRows) {
  const std::string weight = "f16[3,2]{0,1,2,3,4,5} ";
  const std::string out = " -1 false false !f16[1,2,2]";
  check_kernel("aten::embedding.out", {{weight + "i32[1,2]{2,0}" + out, "4,5,0,1"},
                                       {weight + "i32[1,2]{0,3}" + out, "error: out of range"},
                                       {weight + "i32[1,2]{0,-1}" + out, "error: out of range"},
                                       {weight + "f32[1,2]{0}" + out, "error: "},
                                       {"f16[3,2]:10{0,2,4,1,3,5} i64[1,2]{2,0}" + out, "4,5,0,1"},
                                       {weight + "i64[2,2]:10{2,1,0,0} -1 false false "
                                                 "!f16[2,2,2]",
                                        "4,5,0,1,2,3,0,1"}});
  check_kernel("aten::embedding.out",
               {{"f16[3,0] i64[2]{2,0} -1 false false !f16[2,0]", "empty"},
                {"f16[3,0] i64[2]{2,3} -1 false false !f16[2,0]", "error: out of range"},
                {"i8[2,3]{1,2,3,4,5,6} i64[]{1} -1 false false !i8[3]", "4,5,6"},
                {"i8[2,3]{1,2,3,4,5,6} i64[0] -1 false false !~i8[4,3]", "empty"}});
}

TEST(IndexSelect, AcceptsZeroDimensionalTensors) {
  check_kernel("aten::index_select.out",
               {{"f32[2,3]{0,1,2,3,4,5} -1 i64[2]{2,2} !f32[2,2]", "2,2,5,5"},
                {"f32[2,3]{0,1,2,3,4,5} 1 i64[]{1} !f32[2,1]", "1,4"},
                {"f32[]{7} 0 i64[1]{0} !f32[]", "7"}});
}

TEST(Gather, SelectsAlongDimension) {
  const std::string self = "f32[2,3]{0,1,2,3,4,5} 0 ";
  const std::string out = " false !f32[1,2]";
  check_kernel("aten::gather.out", {{self + "i64[1,2]{1,0}" + out, "3,1"},
                                    {self + "i64[1,2]{1,2}" + out, "error: index 2"},
                                    {self + "i64[1,4]{0}" + out, "error: larger"},
                                    {self + "i64[2]{0}" + out, "error: rank"}});
}

TEST(Scatter, LastWriteWinsButScatterAddAddsAllValues) {
  const std::string self = "f32[3]{10,20,30} 0 ";
  const std::string index = "i64[3]{2,0,2} ";
  const std::string src = "f32[4]{1,2,3,4} ";
  check_kernel("aten::scatter.src_out", {{self + index + src + "!f32[3]", "2,20,3"},
                                         {self + index + "f32[2] !f32[3]", "error: larger"}});
  check_kernel("aten::scatter.value_out", {{self + index + "0.5 !f32[3]", "0.5,20,0.5"}});
  check_kernel("aten::scatter_add.out",
               {{self + index + src + "!f32[3]", "12,20,34"},
                {self + "i64[1]{-1} " + src + "!f32[3]", "error: index -1"}});
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
      Tensor& out = call.output_of(ScalarType::kFloat, {4}, "aten::scatter_reduce.two_out", floats,
                                   0, index, more, reduce, include_self);
      const auto expected = scattered(self, indices, src, reduce, include_self, false);
      EXPECT_THAT(values_of<float>(out),
                  testing::Pointwise(testing::FloatEq(),
                                     std::vector<float>(expected.begin(), expected.end())));
      Tensor& integers = call.make<int32_t>({4}, {-7, 2, 3, 9});
      Tensor& more_integers = call.make<int32_t>({6}, {5, -3, 1, 4, -6, 2});
      Tensor& result = call.output_of(ScalarType::kInt, {4}, "aten::scatter_reduce.two_out",
                                      integers, 0, index, more_integers, reduce, include_self);
      EXPECT_THAT(values_of<int32_t>(result),
                  testing::Pointwise(testing::Eq(),
                                     scattered(self, indices, src, reduce, include_self, true)));
    }
  }
}

TEST(ScatterReduce, PropagatesNanAndAcceptsEmptyIndices) {
  const std::string self = "f32[2,2]{1,2,3,4} 1 ";
  const std::string src = " f32[2,2]{nan,7,5,9} ";
  check_kernel("aten::scatter_reduce.two_out",
               {{self + "i64[1,2]{1,0}" + src + "'amax' true !f32[2,2]", "7,nan,3,4"},
                {self + "i64[0,2]" + src + "'mean' false !f32[2,2]", "1,2,3,4"},
                {self + "i64[1,2]{1,0}" + src + "'max' true !f32[2,2]",
                 "error: reduce is max; expected sum, prod, mean, amax or amin"}});
}

TEST(MaskedSelectAndScatter, BroadcastTheMask) {
  const std::string inputs = "f32[2,2]{1,2,3,4} u8[2]{0,1} ";
  check_kernel("aten::masked_select.out", {{inputs + "!~f32[4]", "2,4"}});
  check_kernel("aten::masked_scatter.out",
               {{inputs + "f32[3]{7,8,9} !f32[2,2]", "1,7,3,8"},
                {inputs + "f32[1]{7} !f32[2,2]", "error: the mask selects 2 elements"}});
}

TEST(Nonzero, ReturnsIndices) {
  check_kernel("aten::nonzero.out", {{"f32[2,2]{0,nan,-0.0,2} !~i64[4,2]", "0,1,1,1"}});
}

// These operators read an input twice: to compute the size of the output, and while they write the
// output. Writing an overlapping output would change the input.
TEST(Overlap, RejectsOutputThatOverlapsAnInput) {
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
    Tensor& rows = call.make<int64_t>({3}, {2, 0, 1});
    for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{3}, {1, 3}}) {
      Tensor& values = call.make<int64_t>(sizes, {5, 6, 7});
      Tensor& taken = call.make(ScalarType::kLong, sizes);
      call.overlap(taken, rows, offset);
      const Error error =
          sizes.size() == 1
              ? call.run("aten::index.Tensor_out", values, call.tensors({&rows}, true), taken)
              : call.run("aten::index_select.out", values, int64_t{1}, rows, taken);
      EXPECT_TRUE(fails(error, kBad, kMessage)) << sizes.size();
    }
  }
}

TEST(RepeatInterleave, RepeatsIndices) {
  check_kernel("aten::repeat_interleave.Tensor_out", {{"i32[3]{2,0,1} none !i32[3]", "0,0,2"},
                                                      {"i32[3]{2,0,1} 4 !i32[3]", "error: sum"},
                                                      {"i32[2]{4,-1} none !i32[3]", "error: "}});
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
  check_kernel("aten::_unique2.out",
               {{"i32[2,3]{3,-1,3,7,-1,3} true true true !~i32[6] !~i64[2,3] !~i64[6]",
                 "-1,3,7 1,0,1,2,0,1 2,3,1"},
                {"i32[2,3]{3,-1,3,7,-1,3} true false false !~i32[6] !i64[0] !i64[0]",
                 "-1,3,7 empty empty"}});
}

// Zeros of both signs are equal, and a NaN differs from every element, as in PyTorch.
TEST(Unique, ComparesFloatsLikePyTorch) {
  check_kernel("aten::_unique2.out",
               {{"f32[7]{nan,0,inf,-0.0,nan,-inf,inf} true true true !~f32[7] !~i64[7] !~i64[7]",
                 "-inf,0,inf,nan,nan 3,1,2,1,4,0,2 1,2,2,1,1"},
                {"f32[0] true true true !~f32[7] !~i64[7] !~i64[7]", "empty empty ?"}});
}

TEST(Unique, UniqueConsecutiveMergesOnlyNeighbors) {
  check_kernel(
      "aten::unique_consecutive.out",
      {{"u8[6]{2,2,1,1,1,2} true true none !~u8[6] !~i64[6] !~i64[6]", "2,1,2 0,0,1,1,1,2 2,3,1"},
       {"i32[2,3]{3,-1,3,7,-1,3} true true none !~i32[6] !~i64[2,3] !~i64[6]", "3,-1,3,7,-1,3 ? ?"},
       {"f32[4,2]{1,2,1,2,0,9,1,2} true true 0 !~f32[4,2] !~i64[4] !~i64[4]",
        "1,2,0,9,1,2 0,0,1,2 2,1,1"}});
}

TEST(Unique, FindsDistinctSlices) {
  const std::string inputs = "i32[2,4,2]{5,1,2,2,5,1,2,2,0,0,3,1,0,0,3,0} 1 true true true ";
  const std::string expected = "2,2,2,2,5,1,3,0,3,1,0,0 2,1,2,0 1,1,2";
  check_kernel("aten::unique_dim.out",
               {{inputs + "!~i32[2,4,2] !~i64[4] !~i64[4]", expected},
                // Static outputs must have the shapes of the results.
                {inputs + "!i32[2,3,2] !i64[4] !i64[3]", expected},
                {"f32[2,0] 0 true true true !~f32[4,2] !~i64[4] !~i64[4]", "error: "}});
}

TEST(Histogram, CountsElementsInBins) {
  const std::string self = "f32[8]{0,0.5,1,1.5,2,-1,3,nan} ";
  // In the first case, the bins have width 0.5, and the last bin includes 2. NaN and elements
  // outside of the bins are not counted.
  check_kernel("aten::histc.out",
               {{self + "4 0.0 2.0 !f32[4]", "1,1,1,2"},
                // If the limits are equal, the bins cover the range of the elements. If all
                // elements have one value x, the bins cover x - 1 to x + 1.
                {"f32[3]{4,6,8} 4 0 0 !f32[4]", "1,0,1,1"},
                {"f32[2]{5} 4 0 0 !f32[4]", "0,0,2,0"},
                {"f32[0] 4 0 0 !f32[4]", "0,0,0,0"},
                {self + "4 0 0 !f32[4]", "error: must be finite"},
                {"f32[2]{5} 4 2 1 !f32[4]", "error: from 2 to 1"},
                {"f32[2]{5} 0 0 1 !f32[4]", "error: bins is 0"}});
}

}  // namespace
}  // namespace vitrine::test
