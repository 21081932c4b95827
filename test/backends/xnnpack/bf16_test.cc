// Tests payloads with bf16 values. XNNPACK computes in fp32, and only outputs are rounded to bf16.
#include <gmock/gmock.h>

#include "test/backends/xnnpack/delegate_fixture.h"
#include "vitrine/half.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Type kBf16 = Type::xnn_datatype_bf16;

std::vector<BFloat16> to_bf16(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

std::vector<float> floats_of(const Tensor& tensor) {
  const std::vector<BFloat16> values = values_of<BFloat16>(tensor);
  return {values.begin(), values.end()};
}

class Bf16Test : public DelegateTest {
 protected:
  Tensor& make_bf16(const std::vector<int32_t>& sizes, const std::vector<float>& values = {}) {
    return values.empty() ? factory.make(ScalarType::kBFloat16, sizes)
                          : factory.make(sizes, to_bf16(values));
  }
};

// 1 + 2^-8 is halfway between two bf16 values. Products of the linear layer are exact in fp32.
TEST_F(Bf16Test, LinearRoundsOnceAfterBiasAndClamp) {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 3}, kBf16);
  const uint32_t filter = b.constant({2, 3}, to_bf16({1, 0.00390625F, 0, 2, 1, 0.5F}), kBf16);
  const uint32_t bias = b.constant<float>({2}, {0, 0.001F});
  const uint32_t y = b.output({2, 2}, kBf16);
  b.fully_connected(x, filter, bias, y, 0, Bounds{-4, 3.5F});
  load(b);
  Tensor& in = make_bf16({2, 3}, {1, 1, 7, -1, 3, 1});
  Tensor& out = make_bf16({2, 2});
  run({&in, &out});
  // The exact sums of row 0 are 1.00390625, a tie that rounds to 1, and 6.501, which is clamped.
  // Those of row 1 are -0.98828125, which is a bf16 value, and 1.501, which rounds to 1.5.
  EXPECT_THAT(floats_of(out), ElementsAre(1, 3.5F, -0.98828125F, 1.5F));
  // The fast path for arguments with unchanged memory and shapes must still convert the new
  // contents to fp32.
  in.unchecked_mutable_data<BFloat16>()[0] = BFloat16(-2);
  run({&in, &out});
  EXPECT_THAT(floats_of(out), ElementsAre(-2, 0.5F, -0.98828125F, 1.5F));
}

TEST_F(Bf16Test, IntermediateValuesAreNotRounded) {
  PayloadBuilder b;
  const uint32_t x = b.input({2}, kBf16);
  const uint32_t small = b.constant({1}, to_bf16({0.00390625F}), kBf16);
  const uint32_t sum = b.internal({2}, kBf16);
  const uint32_t y = b.output({2}, kBf16);
  b.binary(Tag::XNNAdd, x, small, sum);
  b.binary(Tag::XNNSubtract, sum, x, y);
  load(b);
  Tensor& out = make_bf16({2});
  run({&make_bf16({2}, {1, -1}), &out});
  EXPECT_THAT(floats_of(out), ElementsAre(0.00390625F, 0.00390625F));
}

TEST_F(Bf16Test, ConvertsBetweenFp32AndBf16) {
  PayloadBuilder b;
  const uint32_t narrow = b.input({3}, kBf16);
  const uint32_t wide = b.input({3});
  const uint32_t widened = b.output({3});
  const uint32_t rounded = b.output({3}, kBf16);
  b.unary(Tag::XNNConvert, narrow, widened);
  b.unary(Tag::XNNConvert, wide, rounded);
  load(b);
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Tensor& to_fp32 = factory.make(ScalarType::kFloat, {3});
  Tensor& to_bf16 = make_bf16({3});
  Tensor& in = factory.make<float>({3}, {1.00390625F, 1.01171875F, kInf});
  run({&make_bf16({3}, {1.5F, -0.0F, -kInf}), &in, &to_fp32, &to_bf16});
  EXPECT_THAT(values_of<float>(to_fp32), ElementsAre(1.5F, -0.0F, -kInf));
  EXPECT_THAT(floats_of(to_bf16), ElementsAre(1, 1.015625F, kInf));
}

TEST_F(Bf16Test, RejectsMismatchedDtypesAndSizes) {
  PayloadBuilder b;
  const uint32_t x = b.input({3}, kBf16), y = b.output({3}, kBf16);
  const uint32_t c = b.constant<uint16_t>({3}, {0, 0}, kBf16);
  b.binary(Tag::XNNAdd, x, c, y);
  EXPECT_THAT(load_error(b), HasSubstr("has 4 bytes, but its value needs 6"));

  load_unary(Tag::XNNNegate, {3}, kBf16);
  EXPECT_THAT(execute({&factory.make(ScalarType::kFloat, {3}), &make_bf16({3})}).message(),
              HasSubstr("argument 0: is f32[3], but the delegate expects bf16 of rank 1"));
}

TEST_F(Bf16Test, CopiesCountTowardTheMemoryBudget) {
  constexpr uint32_t kCount = 1000;
  Budget budget(1 << 20);
  memory_budget = &budget;
  load_unary(Tag::XNNNegate, {kCount}, kBf16);
  const uint64_t before = budget.used();
  Tensor& in = make_bf16({kCount}, std::vector<float>(kCount, 1));
  Tensor& out = make_bf16({kCount});
  run({&in, &out});
  EXPECT_GE(budget.used() - before, 2 * kCount * sizeof(float));
  delegate.reset();
  EXPECT_EQ(budget.used(), 0U);
}

}  // namespace
}  // namespace vitrine::test
