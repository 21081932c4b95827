// Tests the placement of intermediate values in a workspace.
#include <gmock/gmock.h>

#include "backends/xnnpack/runtime/execution/workspace_plan.h"

#include <random>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using testing::FloatNear;
using testing::Pointwise;
using xnnpack::MemoryBlock;

// For each operator, adds the bytes of the blocks that are in use while it runs. Returns the
// largest sum.
size_t least_bytes(std::span<const MemoryBlock> blocks) {
  size_t least = 0;
  for (const MemoryBlock& start : blocks) {
    size_t sum = 0;
    for (const MemoryBlock& block : blocks) {
      if (block.first <= start.first && start.first <= block.last) sum += block.bytes;
    }
    least = std::max(least, sum);
  }
  return least;
}

size_t place(std::span<MemoryBlock> blocks) { return *xnnpack::place_blocks(blocks); }

TEST(PlaceBlocks, SharesMemoryOnlyBetweenDisjointLifetimes) {
  MemoryBlock blocks[] = {{.bytes = 64, .first = 0, .last = 1},
                          {.bytes = 32, .first = 1, .last = 2},
                          {.bytes = 64, .first = 2, .last = 3}};
  EXPECT_EQ(place(blocks), 96);
  EXPECT_EQ(blocks[0].offset, 0);
  EXPECT_EQ(blocks[1].offset, 64);
  EXPECT_EQ(blocks[2].offset, 0);
}

TEST(PlaceBlocks, UsesTheSmallestGapThatIsLargeEnough) {
  // While operator 2 runs, the memory is free from 100 to 140 and from 180 to 200.
  MemoryBlock blocks[] = {
      {.bytes = 100, .first = 0, .last = 9}, {.bytes = 40, .first = 0, .last = 1},
      {.bytes = 40, .first = 0, .last = 9},  {.bytes = 20, .first = 0, .last = 1},
      {.bytes = 20, .first = 0, .last = 9},  {.bytes = 15, .first = 2, .last = 3}};
  EXPECT_EQ(place(blocks), 220);
  EXPECT_EQ(blocks[5].offset, 180);
}

TEST(PlaceBlocks, SeparatesBlocksThatAreLiveAtTheSameTime) {
  std::mt19937 random(1);  // NOLINT(*-msc51-cpp): the same values in each run
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryBlock> blocks(1 + random() % 40);
    for (MemoryBlock& block : blocks) {
      block.bytes = 1 + random() % 100;
      block.first = random() % 30;
      block.last = block.first + random() % 5;
    }
    const size_t end = place(blocks);
    EXPECT_GE(end, least_bytes(blocks));
    for (const MemoryBlock& a : blocks) {
      EXPECT_LE(a.offset + a.bytes, end);
      for (const MemoryBlock& b : blocks) {
        if (&a == &b || a.last < b.first || b.last < a.first) continue;
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
      }
    }
  }
}

TEST(PlaceBlocks, ReturnsTheMaximumInsteadOfOverflowing) {
  MemoryBlock blocks[] = {{.bytes = SIZE_MAX, .first = 0, .last = 0},
                          {.bytes = 2, .first = 0, .last = 0}};
  EXPECT_EQ(place(blocks), SIZE_MAX);
}

class WorkspacePlanTest : public DelegateTest {
 protected:
  size_t workspace() const { return memory_bytes(DelegateMemory::Kind::kWorkspace); }
  void SetUp() override {
    if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  }
};

// Computes -(|x| * tanh(|x|)). The tanh and then the product read |x|, so only the product may
// overwrite |x|.
TEST_F(WorkspacePlanTest, ProductOverwritesTheInputThatIsNotReadAgain) {
  constexpr uint32_t kSize = 4096;
  PayloadBuilder b;
  const uint32_t x = b.input({kSize}), y = b.output({kSize});
  const uint32_t a = b.internal({kSize}), s = b.internal({kSize}), p = b.internal({kSize});
  b.unary(Tag::XNNAbs, x, a);
  b.unary(Tag::XNNTanh, a, s);
  b.binary(Tag::XNNMultiply, a, s, p);
  b.unary(Tag::XNNNegate, p, y);
  load(b);
  std::vector<float> in(kSize), expected(kSize);
  for (uint32_t i = 0; i < kSize; ++i) {
    in[i] = 0.01f * static_cast<float>(i % 300) - 1.0f;
    const double value = std::fabs(in[i]);
    expected[i] = static_cast<float>(-value * std::tanh(value));
  }
  Tensor& out = factory.make(ScalarType::kFloat, {kSize});
  run({&factory.make({kSize}, in), &out});
  EXPECT_THAT(values_of<float>(out), Pointwise(FloatNear(1e-6f), expected));
  EXPECT_EQ(workspace() / (kSize * sizeof(float)), 2);
}

// The addition repeats the row |x| three times. The sum is larger than |x|, so it needs its own
// memory.
TEST_F(WorkspacePlanTest, LargerResultDoesNotReuseMemoryOfARepeatedRow) {
  PayloadBuilder b;
  const uint32_t x = b.input({1, 32}), y = b.output({3, 32}), z = b.input({3, 32});
  const uint32_t row = b.internal({1, 32}), sum = b.internal({3, 32});
  b.unary(Tag::XNNAbs, x, row);
  b.binary(Tag::XNNAdd, row, z, sum);
  b.unary(Tag::XNNNegate, sum, y);
  load(b);
  std::vector<float> in(32), more(96), expected(96);
  for (size_t i = 0; i < 96; ++i) {
    in[i % 32] = static_cast<float>(i % 32);
    more[i] = static_cast<float>(i);
    expected[i] = -static_cast<float>(i % 32 + i);
  }
  Tensor& out = factory.make(ScalarType::kFloat, {3, 32});
  run({&factory.make({1, 32}, in), &out, &factory.make({3, 32}, more)});
  EXPECT_EQ(values_of<float>(out), expected);
}

TEST_F(WorkspacePlanTest, ExecutionNeedsNoMoreMemoryThanPlanned) {
  constexpr uint32_t kSize = 4096;
  PayloadBuilder b;
  const uint32_t x = b.input({kSize}), y = b.output({kSize}), a = b.internal({kSize});
  b.unary(Tag::XNNAbs, x, a);
  b.unary(Tag::XNNNegate, a, y);
  load(b);
  ASSERT_TRUE(delegate->plan_memory().ok());
  const size_t planned = workspace();
  EXPECT_GE(planned, kSize * sizeof(float));
  Tensor& in = factory.make(ScalarType::kFloat, {kSize});
  std::vector<std::byte> zeros(in.nbytes() + kReadableSlack);
  in.set_data(zeros.data(), /*has_slack=*/true);
  run({&in, &factory.make(ScalarType::kFloat, {kSize})});
  EXPECT_EQ(workspace(), planned);
}

}  // namespace
}  // namespace vitrine::test
