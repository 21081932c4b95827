// index, index_put, embedding, gather, scatter, masks: everything that reads indices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST_F(Index, WrapsAndKeepsTheOtherDimensions) {
  Tensor& first = call.make<int64_t>({2}, {1, -2});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 3});
  ASSERT_TRUE(succeeds(index({&first}, out)));
  EXPECT_THAT(values_of<float>(out),
              ElementsAre(100, 101, 102, 110, 111, 112, 0, 1, 2, 10, 11, 12));
}

TEST_F(Index, NeighboursKeepTheirPlace) {
  Tensor& rows = call.make<int64_t>({2, 1}, {0, 1});
  Tensor& columns = call.make<int32_t>({2}, {2, 0});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 2});
  ASSERT_TRUE(succeeds(index({nullptr, &rows, &columns}, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 0, 12, 10, 102, 100, 112, 110));
}

TEST_F(Index, SeparatedIndicesComeFirst) {
  Tensor& a = call.make<int64_t>({3}, {0, 1, 1});
  Tensor& c = call.make<int64_t>({3}, {2, 1, 0});
  Tensor& out = call.make(ScalarType::kFloat, {3, 2});
  ASSERT_TRUE(succeeds(index({&a, nullptr, &c}, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 12, 101, 111, 100, 110));
}

TEST_F(Index, MasksStandForTheirDimensions) {
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
  // The same logical values, with the last dimension outermost in memory.
  Tensor& turned =
      call.make<float>({2, 2, 3}, {0, 10, 100, 110, 1, 11, 101, 111, 2, 12, 102, 112}, {2, 0, 1});
  Tensor& last = call.make<int64_t>({1}, {-1});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2, 1});
  ASSERT_TRUE(succeeds(call.run("aten::index.Tensor_out", turned,
                                call.tensors({nullptr, nullptr, &last}, true), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(2, 12, 102, 112));
}

TEST_F(Index, RefusesWhatDoesNotFit) {
  Tensor& out = call.make(ScalarType::kFloat, {1, 2, 3});
  for (const int64_t bad : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(fails(index({&call.make<int64_t>({1}, {bad})}, out), kBad, "out of range"));
  }
  EXPECT_TRUE(fails(index({&call.make<float>({1}, {0})}, out), kBad, "f32"));
  EXPECT_TRUE(fails(index({&call.make<uint8_t>({3}, {1, 1, 1})}, out), kBad, "mask"));
  EXPECT_TRUE(fails(index({&call.make<uint8_t>({}, {1})}, out), kBad, "suit"));
  Tensor& zero = call.make<int64_t>({1}, {0});
  EXPECT_TRUE(fails(index({&zero, &zero, &zero, &zero}, out), kBad, "suit"));
  Tensor& two = call.make<int64_t>({2}, {0, 0});
  Tensor& three = call.make<int64_t>({3}, {0, 0, 0});
  EXPECT_TRUE(fails(index({&two, &three}, out), kBad, "broadcast"));
}

TEST_F(Index, PutWritesAndAccumulates) {
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

TEST_F(Index, PutChecksBeforeItWrites) {
  Tensor& a = call.make<int64_t>({2}, {0, 2});
  Tensor& value = call.make<float>({}, {7});
  const std::vector<float> before = values_of<float>(self);
  EXPECT_FALSE(call.run("aten::index_put_", self, call.tensors({&a}, true), value, false).ok());
  EXPECT_EQ(values_of<float>(self), before);
}

TEST(Embedding, TakesRows) {
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

TEST(IndexSelect, TakesScalarsToo) {
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

TEST(Gather, PicksAlongADimension) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 3}, {0, 1, 2, 3, 4, 5});
  Tensor& index = call.make<int64_t>({1, 2}, {1, 0});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2});
  ASSERT_TRUE(succeeds(call.run("aten::gather.out", self, 0, index, false, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(3, 1));
  Tensor& bad = call.make<int64_t>({1, 2}, {1, 2});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, bad, false, out), kBad, "index 2"));
  Tensor& wide = call.make<int64_t>({1, 4}, {0, 0, 0, 0});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, wide, false, out), kBad, "suit"));
  Tensor& flat = call.make<int64_t>({2}, {0, 0});
  EXPECT_TRUE(fails(call.run("aten::gather.out", self, 0, flat, false, out), kBad, "suit"));
}

TEST(Scatter, LastWriteWinsAndAddAddsAll) {
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
  EXPECT_TRUE(fails(call.run("aten::scatter.src_out", self, 0, index, few, out), kBad, "suit"));
  Tensor& bad = call.make<int64_t>({1}, {-1});
  EXPECT_TRUE(fails(call.run("aten::scatter_add.out", self, 0, bad, src, out), kBad, "index -1"));
}

TEST(Masked, SelectAndScatterBroadcast) {
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

TEST(Nonzero, ListsPlaces) {
  KernelCall call;
  Tensor& self = call.make<float>({2, 2}, {0, NAN, -0.0f, 2});
  Tensor& out = call.make(ScalarType::kLong, {4, 2}, {}, kDynamic);
  ASSERT_TRUE(succeeds(call.run("aten::nonzero.out", self, out)));
  EXPECT_THAT(values_of<int64_t>(out), ElementsAre(0, 1, 1, 1));
}

// These count first, then write: an output in the memory of an input would change the count.
TEST(Overlap, OfWhatIsReadTwiceIsRefused) {
  constexpr const char* kRefusal = "the output lies in the memory of an input";
  for (const int64_t offset : {0, 4, -4}) {
    KernelCall call;
    Tensor& self = call.make<float>({8}, {1, 2, 3, 4, 5, 6, 7, 8});
    Tensor& mask = call.make<uint8_t>({8}, {1, 0, 0, 0, 0, 0, 1, 0});
    Tensor& out = call.make(ScalarType::kFloat, {8}, {}, kDynamic);
    call.overlap(mask, out, offset);
    EXPECT_TRUE(fails(call.run("aten::masked_select.out", self, mask, out), kBad, kRefusal));
    Tensor& places = call.make(ScalarType::kLong, {8, 1}, {}, kDynamic);
    call.overlap(places, self, offset);
    EXPECT_TRUE(fails(call.run("aten::nonzero.out", self, places), kBad, kRefusal));
    Tensor& repeats = call.make<int64_t>({3}, {2, 0, 1});
    Tensor& repeated = call.make(ScalarType::kLong, {8}, {}, kDynamic);
    call.overlap(repeated, repeats, offset);
    EXPECT_TRUE(
        fails(call.run("aten::repeat_interleave.Tensor_out", repeats, KernelCall::none(), repeated),
              kBad, kRefusal));
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

TEST(EtCopyIndex, GrowsItsTarget) {
  KernelCall call;
  Tensor& target = call.make(ScalarType::kFloat, {3, 2}, {}, kDynamic);
  Tensor& row = call.make<float>({2}, {5, 6});
  KernelRegistry registry;
  ASSERT_TRUE(succeeds(registry.add("portable", portable::kernels())));
  const Kernel* kernel = registry.find("executorch_prim::et_copy_index.tensor").kernel;
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->num_arguments, 3);  // its result is its first argument
  const auto run = [&](int64_t at) {
    EValue values[] = {EValue(&target), EValue(&row), EValue(at)};
    EValue* arguments[] = {&values[0], &values[1], &values[2]};
    HeapArena temp;
    KernelContext context(&temp);
    kernel->function(context, arguments);
    return context.take_error();
  };
  ASSERT_TRUE(succeeds(run(0)));
  ASSERT_TRUE(succeeds(run(1)));
  EXPECT_THAT(target.sizes(), ElementsAre(2, 2));
  EXPECT_THAT(values_of<float>(target), ElementsAre(5, 6, 5, 6));
  for (const int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX}) EXPECT_FALSE(run(bad).ok());
}

}  // namespace
}  // namespace vitrine::test
