// Tests quantized_decomposed operators against values computed by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/optimized/optimized_kernels.h"
#include "test/kernels/kernel_call.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

using testing::ElementsAre;

class Quantized : public testing::Test {
 protected:
  Error run(const char* name, auto&&... arguments) {
    return call.run(std::string("quantized_decomposed::") + name, arguments...);
  }
  KernelCall call;
};

TEST_F(Quantized, PerTensorRoundsTiesToEvenAndClamps) {
  Tensor& input = call.make<float>({7}, {0.25f, 0.75f, -0.25f, 1000, -1000, NAN, INFINITY});
  Tensor& out = call.make(ScalarType::kChar, {7});
  ASSERT_TRUE(
      succeeds(run("quantize_per_tensor.out", input, 0.5, 3, -128, 127, ScalarType::kChar, out)));
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre(3, 5, 3, 127, -128, 3, 127));
  Tensor& scale = call.make<double>({1}, {0.5});
  Tensor& zero = call.make<int64_t>({1}, {3});
  Tensor& wide = call.make(ScalarType::kUInt16, {7});
  ASSERT_TRUE(succeeds(run("quantize_per_tensor.Tensor_out", input, scale, zero, 0, 65535,
                           ScalarType::kUInt16, wide)));
  EXPECT_EQ(wide.data<uint16_t>()[3], 2003);
  EXPECT_EQ(wide.data<uint16_t>()[6], 65535);
  Tensor& real = call.make(ScalarType::kFloat, {7});
  ASSERT_TRUE(succeeds(run("dequantize_per_tensor.out", wide, 0.5, 3, 0, 65535, ScalarType::kUInt16,
                           call.none(), real)));
  EXPECT_EQ(real.data<float>()[3], 1000);
  EXPECT_EQ(real.data<float>()[6], 32766);  // (65535 - 3) / 2
}

// PyTorch multiplies by 1 / scale, computed in double. For one scale in four, 1.0f / float(scale)
// is a neighbor of the correct float, which would change the rounding of values near ties.
TEST_F(Quantized, SixteenBitQuantizationUsesInverseScaleComputedInF64) {
  size_t differing = 0;
  for (int s = 1; s <= 200; ++s) {
    const double scale = 1e-4 + 1e-6 * s / 3;
    const auto inverse = static_cast<float>(1.0 / scale);
    std::vector<float> reals;
    std::vector<int16_t> expected;
    for (int i = 0; i < 400; ++i) {
      const double tie = (i - 200) * 160 + 0.5;
      for (const float real : {static_cast<float>(tie * scale),
                               std::nextafter(static_cast<float>(tie * scale), 1e9F)}) {
        reals.push_back(real);
        expected.push_back(static_cast<int16_t>(std::nearbyint(real * inverse)));
        const float other = 1.0F / static_cast<float>(scale);
        differing += std::nearbyint(real * other) != std::nearbyint(real * inverse) ? 1 : 0;
      }
    }
    const auto count = static_cast<int32_t>(reals.size());
    Tensor& input = call.make<float>({count}, reals);
    Tensor& out = call.make(ScalarType::kShort, {count});
    ASSERT_TRUE(succeeds(
        run("quantize_per_tensor.out", input, scale, 0, -32768, 32767, ScalarType::kShort, out)));
    ASSERT_EQ(values_of<int16_t>(out), expected) << "scale " << scale;
  }
  EXPECT_GT(differing, 100u);  // otherwise the test could not detect the wrong inverse
}

// Per token, zero points are added before rounding: 0.5 + 1 rounds to 2, not to 0 + 1.
TEST_F(Quantized, PerTokenAddsZeroPointBeforeRounding) {
  Tensor& input = call.make<float>({1, 4}, {0.5F, 1.5F, 2.5F, -0.5F});
  Tensor& scales = call.make<double>({1, 1}, {1});
  Tensor& zeros = call.make<int64_t>({1, 1}, {1});
  Tensor& out = call.make(ScalarType::kChar, {1, 4});
  ASSERT_TRUE(succeeds(
      run("quantize_per_token.out", input, scales, zeros, -128, 127, ScalarType::kChar, out)));
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre(2, 2, 4, 0));
}

TEST_F(Quantized, RejectsInvalidArguments) {
  Tensor& input = call.make<float>({2}, {1, 2});
  Tensor& out = call.make(ScalarType::kChar, {2});
  const auto kChar = ScalarType::kChar;
  EXPECT_TRUE(
      fails(run("quantize_per_tensor.out", input, 1.0, 0, -129, 127, kChar, out), kBad, "-129"));
  EXPECT_TRUE(
      fails(run("quantize_per_tensor.out", input, 1.0, 0, 10, -10, kChar, out), kBad, "10 to -10"));
  EXPECT_TRUE(fails(run("quantize_per_tensor.out", input, 1.0, 0, 0, 1, ScalarType::kFloat, out),
                    kBad, "f32"));
  EXPECT_TRUE(fails(run("quantize_per_tensor.out", input, 1.0, 0, 0, 255, ScalarType::kByte, out),
                    kBad, "u8"));
  EXPECT_TRUE(fails(run("quantize_per_tensor.out", out, 1.0, 0, -128, 127, kChar, out), kBad, ""));
  EXPECT_TRUE(
      succeeds(run("quantize_per_tensor.out", input, 0.0, INT64_MAX, -128, 127, kChar, out)));
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre(127, 127));
  Tensor& scales = call.make<double>({3}, {1, 2, 3});
  Tensor& zeros = call.make<int64_t>({3}, {0, 0, 0});
  EXPECT_TRUE(fails(run("quantize_per_channel.out", input, scales, zeros, 0, -128, 127, kChar, out),
                    kBad, "2 float"));
}

TEST_F(Quantized, PerChannelAcceptsAnyAxis) {
  Tensor& input = call.make<float>({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  Tensor& scales = call.make<double>({2}, {1, 0.5});
  Tensor& zeros = call.make<int64_t>({2}, {0, 10});
  Tensor& out = call.make(ScalarType::kByte, {2, 2, 2});
  ASSERT_TRUE(succeeds(
      run("quantize_per_channel.out", input, scales, zeros, 1, 0, 255, ScalarType::kByte, out)));
  EXPECT_THAT(values_of<uint8_t>(out), ElementsAre(1, 2, 16, 18, 5, 6, 24, 26));
  Tensor& real = call.make(ScalarType::kFloat, {2, 2, 2});
  Tensor& narrow = call.make<int32_t>({2}, {0, 10});  // must not be read as i64
  ASSERT_TRUE(succeeds(run("dequantize_per_channel.out", out, scales, narrow, -2, 0, 255,
                           ScalarType::kByte, call.none(), real)));
  EXPECT_THAT(values_of<float>(real), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  ASSERT_TRUE(succeeds(run("dequantize_per_channel.out", out, scales, call.none(), -2, 0, 255,
                           ScalarType::kByte, call.none(), real)));
  EXPECT_THAT(values_of<float>(real), ElementsAre(1, 2, 8, 9, 5, 6, 12, 13));
}

TEST_F(Quantized, PerTokenUsesParametersOfEachRow) {
  Tensor& input = call.make<float>({2, 1, 2}, {1, 2, 3, 4});
  Tensor& scales = call.make<double>({2, 1, 1}, {1, 2});
  Tensor& zeros = call.make<int64_t>({2, 1, 1}, {0, 1});
  Tensor& out = call.make(ScalarType::kChar, {2, 1, 2});
  ASSERT_TRUE(succeeds(
      run("quantize_per_token.out", input, scales, zeros, -128, 127, ScalarType::kChar, out)));
  EXPECT_THAT(values_of<int8_t>(out), ElementsAre(1, 2, 2, 3));  // 3 / 2 + 1 rounds to 2
  Tensor& real = call.make(ScalarType::kHalf, {2, 1, 2});
  ASSERT_TRUE(succeeds(run("dequantize_per_token.out", out, scales, zeros, -128, 127,
                           ScalarType::kChar, ScalarType::kHalf, real)));
  EXPECT_EQ(float(real.data<Half>()[3]), 4);
}

// A channel's parameters are read after other channels are written. Here, the result of the first
// channel would overwrite the zero point of the second channel with -0.0f, which has the bits of
// the minimum i32.
TEST_F(Quantized, RejectsOutputThatOverlapsParameters) {
  constexpr const char* kMessage = "the output overlaps the memory of an input";
  KernelRegistry optimized;
  ASSERT_TRUE(succeeds(optimized.add("optimized", optimized::kernels())));
  ASSERT_TRUE(succeeds(optimized.add("quantized", quantized::kernels())));
  for (const bool fast : {false, true}) {
    call.registry = fast ? &optimized : nullptr;
    for (const bool overlap_scales : {false, true}) {
      Tensor& real = call.make<float>({2, 1}, {0, 3});
      Tensor& bytes = call.make<int8_t>({2, 1}, {0, 3});
      Tensor& scales = call.make<double>({2, 1}, {-1, 1});
      Tensor& zeros = call.make<int32_t>({2, 1}, {0, 0});
      Tensor& wide_zeros = call.make<int64_t>({2, 1}, {0, 0});
      const auto kChar = ScalarType::kChar;
      const auto expect_rejected = [&](Tensor& out, Tensor& zero_points, const auto& run_it) {
        call.overlap(out, overlap_scales ? scales : zero_points, 4);
        EXPECT_TRUE(fails(run_it(), kBad, kMessage));
      };
      expect_rejected(real, zeros, [&] {
        return run("dequantize_per_channel.out", bytes, scales, zeros, 0, -128, 127, kChar,
                   call.none(), real);
      });
      expect_rejected(real, wide_zeros, [&] {
        return run("dequantize_per_token.out", bytes, scales, wide_zeros, -128, 127, kChar,
                   ScalarType::kFloat, real);
      });
      Tensor& values = call.make<float>({2, 1}, {0, 3});
      expect_rejected(bytes, zeros, [&] {
        return run("quantize_per_channel.out", values, scales, zeros, 0, -128, 127, kChar, bytes);
      });
      expect_rejected(bytes, wide_zeros, [&] {
        return run("quantize_per_token.out", values, scales, wide_zeros, -128, 127, kChar, bytes);
      });
    }
  }
}

TEST_F(Quantized, ChoosesScalesAndZeroPoints) {
  Tensor& input = call.make<float>({2}, {-1, 4.1f});
  Tensor& scale = call.make(ScalarType::kDouble, {1});
  Tensor& zero = call.make(ScalarType::kLong, {1});
  ASSERT_TRUE(succeeds(
      run("choose_qparams.Tensor_out", input, 0, 255, 1e-6, ScalarType::kByte, scale, zero)));
  EXPECT_NEAR(scale.data<double>()[0], 0.02, 1e-8);
  EXPECT_EQ(zero.data<int64_t>()[0], 50);
  Tensor& positive = call.make<float>({1}, {2.55f});  // the range always includes 0
  ASSERT_TRUE(succeeds(
      run("choose_qparams.Tensor_out", positive, 0, 255, 1e-6, ScalarType::kByte, scale, zero)));
  EXPECT_NEAR(scale.data<double>()[0], 0.01, 1e-8);
  EXPECT_EQ(zero.data<int64_t>()[0], 0);
  Tensor& rows = call.make<float>({2, 2}, {0, 0, -2.55f, 0});
  Tensor& scales = call.make(ScalarType::kDouble, {2, 1});
  Tensor& zeros = call.make(ScalarType::kLong, {2, 1});
  ASSERT_TRUE(succeeds(
      run("choose_qparams_per_token_asymmetric.out", rows, ScalarType::kChar, scales, zeros)));
  EXPECT_EQ(scales.data<double>()[0], std::ldexp(1.0, -23));
  EXPECT_NEAR(scales.data<double>()[1], 0.01, 1e-8);
  EXPECT_EQ(zeros.data<int64_t>()[1], 127);
}

TEST_F(Quantized, AddsDequantizedValues) {
  Tensor& a = call.make<uint8_t>({2}, {10, 200});
  Tensor& b = call.make<uint8_t>({2}, {4, 255});
  Tensor& out = call.make(ScalarType::kByte, {2});
  // The real sum is (10 - 0) * 1 + (4 - 2) * 0.5 = 11. The quantized sum is 11 / 0.5 + 1 = 23.
  ASSERT_TRUE(succeeds(run("add.out", a, 1.0, 0, 0, 255, b, 0.5, 2, 0, 255, 0.5, 1, 0, 255, out)));
  EXPECT_THAT(values_of<uint8_t>(out), ElementsAre(23, 255));
}

TEST_F(Quantized, EmbeddingsUnpackRows) {
  Tensor& indices = call.make<int64_t>({2}, {1, 0});
  Tensor& scales = call.make<float>({2, 2}, {1, 2, 0.5f, 1});
  Tensor& bytes = call.make<int8_t>({2, 2}, {1, -2, 3, 4});
  Tensor& out = call.make(ScalarType::kFloat, {2, 2});
  ASSERT_TRUE(
      succeeds(run("embedding_byte.out", bytes, scales, call.none(), -128, 127, indices, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(1.5f, 4, 1, -4));
  // In 0xf1, the high four bits are 15 - 8 = 7 (column 0), and the low four bits are 1 - 8 = -7
  // (column 1).
  Tensor& int4s = call.make<uint8_t>({2, 1}, {0xf1, 0x80});
  ASSERT_TRUE(succeeds(run("embedding_4bit.out", int4s, scales, call.none(), -8, 7, indices, out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(0, -8, 7, -14));
  // The byte 0b11100100 contains the numbers 0, 1, 2 and 3. Each number is a value plus 2.
  Tensor& pairs = call.make<uint8_t>({2, 1}, {0b11100100, 0});
  Tensor& one_scale = call.make<float>({2}, {1, 2});
  Tensor& zero_points = call.make<float>({2}, {0, 1});
  Tensor& wide = call.make(ScalarType::kFloat, {2, 4});
  ASSERT_TRUE(
      succeeds(run("embedding_2bit.out", pairs, one_scale, zero_points, -2, 1, indices, wide)));
  EXPECT_THAT(values_of<float>(wide), ElementsAre(-6, -6, -6, -6, -2, -1, 0, 1));
  for (const int64_t bad : {int64_t{2}, int64_t{-1}}) {
    Tensor& wrong = call.make<int64_t>({2}, {0, bad});
    EXPECT_TRUE(fails(run("embedding_4bit.out", int4s, scales, call.none(), -8, 7, wrong, out),
                      kBad, "out of range"));
  }
}

// Uses rows of several chunks, groups that begin within a byte, and several threads.
TEST_F(Quantized, EmbeddingsMatchFormula) {
  auto pool = ThreadPool::create(3, ThreadPool::Use::kAlways);
  ASSERT_TRUE(pool.ok());
  call.pool = pool->get();
  struct EmbeddingCase {
    const char* name;
    int bits;
    int32_t columns, groups;
  };
  constexpr int32_t kRows = 7, kIndices = 90;
  std::mt19937 random(3);
  for (const EmbeddingCase& test : {EmbeddingCase{"embedding_byte.dtype_out", 8, 301, 7},
                                    {"embedding_4bit.dtype_out", 4, 6, 2},
                                    {"embedding_4bit.dtype_out", 4, 390, 26},
                                    {"embedding_2bit.dtype_out", 2, 300, 20},
                                    {"embedding_2bit.dtype_out", 2, 12, 4}}) {
    const bool is_byte = test.bits == 8;
    Tensor& weight = call.make(is_byte ? ScalarType::kChar : ScalarType::kByte,
                               {kRows, test.columns * test.bits / 8});
    auto* const bytes = static_cast<uint8_t*>(weight.mutable_raw_data());
    for (int64_t i = 0; i < weight.numel(); ++i) bytes[i] = static_cast<uint8_t>(random());
    Tensor& scales = call.make(ScalarType::kFloat, {kRows, test.groups});
    Tensor& zeros = call.make(ScalarType::kDouble, {kRows, test.groups});
    for (int64_t i = 0; i < scales.numel(); ++i) {
      scales.mutable_data<float>()[i] = static_cast<float>(i % 5) + 0.5F;
      zeros.mutable_data<double>()[i] = static_cast<double>(i % 3) - 1;
    }
    Tensor& indices = call.make(ScalarType::kInt, {kIndices});
    for (int i = 0; i < kIndices; ++i) indices.mutable_data<int32_t>()[i] = i * 3 % kRows;
    for (const ScalarType dtype : {ScalarType::kDouble, ScalarType::kHalf}) {
      SCOPED_TRACE(testing::Message()
                   << test.name << " " << test.columns << " " << static_cast<int>(dtype));
      Tensor& out = call.make(dtype, {kIndices, test.columns});
      const int low = -(1 << (test.bits - 1));
      ASSERT_TRUE(
          succeeds(run(test.name, weight, scales, zeros, low, -low - 1, indices, dtype, out)));
      for (int32_t i = 0; i < kIndices; ++i) {
        const int32_t row = i * 3 % kRows;
        for (int32_t k = 0; k < test.columns; ++k) {
          const int bit = k * test.bits % 8;
          const int shift = test.bits == 4 ? 4 - bit : bit;
          const uint8_t byte = bytes[row * weight.size(1) + k * test.bits / 8];
          const int value = is_byte ? static_cast<int8_t>(byte)
                                    : ((byte >> shift) & ((1 << test.bits) - 1)) + low;
          const int group = row * test.groups + k / (test.columns / test.groups);
          // Both dtypes can represent the expected value exactly.
          const double expected =
              (value - (group % 3 - 1)) * static_cast<double>(scales.data<float>()[group]);
          const int32_t at = i * test.columns + k;
          const double found = dtype == ScalarType::kHalf
                                   ? static_cast<double>(static_cast<float>(out.data<Half>()[at]))
                                   : out.data<double>()[at];
          ASSERT_EQ(found, expected) << "row " << row << ", column " << k;
        }
      }
    }
  }
}

TEST_F(Quantized, MixedDtypeProductsMultiplyWeightsByTheirScales) {
  Tensor& input = call.make<float>({1, 2}, {2, 3});
  Tensor& weight = call.make<int8_t>({2, 2}, {1, 2, 3, 4});
  Tensor& scales = call.make<float>({2}, {10, 0.5f});
  Tensor& out = call.make(ScalarType::kFloat, {1, 2});
  ASSERT_TRUE(succeeds(run("mixed_mm.out", input, weight, scales, call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(24.5f, 46));  // rows of weight are scaled
  ASSERT_TRUE(
      succeeds(run("mixed_linear.out", input, weight, scales, call.none(), call.none(), out)));
  EXPECT_THAT(values_of<float>(out), ElementsAre(80, 9));
}

}  // namespace
}  // namespace vitrine::test
