// Tests quantized_decomposed operators against values computed by hand.

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/optimized/simd/quantize.h"
#include "test/kernels/kernel_cases.h"
#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {
namespace {

void check(const std::string& op, std::initializer_list<KernelCase> cases, double tolerance = 0) {
  check_kernel("quantized_decomposed::" + op, cases, tolerance);
}

class Quantized : public testing::Test {
 protected:
  Error run(const char* name, auto&&... arguments) {
    return call.run(std::string("quantized_decomposed::") + name, arguments...);
  }
  KernelCall call;
};

TEST(QuantizedValues, PerTensorRoundsTiesToEvenAndClamps) {
  const std::string input = "f32[7]{0.25,0.75,-0.25,1000,-1000,nan,inf} ";
  check("quantize_per_tensor.out", {{input + "0.5 3 -128 127 @i8 !i8[7]", "3,5,3,127,-128,3,127"},
                                    {"f32[2]{1,2} 0.0 max -128 127 @i8 !i8[2]", "127,127"}});
  check("quantize_per_tensor.Tensor_out",
        {{input + "f64[1]{0.5} i64[1]{3} 0 65535 @u16 !u16[7]", "?,?,?,2003,?,?,65535"}});
  check("dequantize_per_tensor.out",
        {{"u16[7]{3,5,3,2003,0,3,65535} 0.5 3 0 65535 @u16 none !f32[7]",
          "0,1,0,1000,-1.5,0,32766"}});  // (65535 - 3) / 2
}

// PyTorch computes 1 / scale in double, rounds it to float, and multiplies by this float. For about
// a quarter of all scales, 1.0f / float(scale) is a different float. Multiplying by that float
// would round values near ties differently.
TEST_F(Quantized, Int16QuantizationComputesInverseScaleInF64) {
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

// The numbers are multiples of 1/4, NaN and infinities, so products with the inverse scale are
// exact and some are ties. The kernel computes groups of vectors, single vectors and a part of a
// vector.
TEST(QuantizedValues, QuantizesLongLinesLikeTheFormula) {
  struct Range {
    int32_t lowest, highest, zero_point;
  };
  std::vector<float> in(509);
  for (size_t i = 0; i < in.size(); ++i) {
    const std::array<double, 5> rare = {NAN, INFINITY, -INFINITY, 1e30, -1e30};
    const double number = static_cast<double>(i * 37 % 509) / 4 - 60;
    in[i] = static_cast<float>(i % 13 == 7 ? rare[i % rare.size()] : number);
  }
  for (const auto& [lowest, highest, zero_point] : {Range{-128, 127, 3},
                                                    {-128, 127, -128},
                                                    {0, 255, 0},
                                                    {0, 255, 128},
                                                    {0, 255, 255},
                                                    {0, 15, 7},
                                                    {-8, 7, 1},
                                                    {-128, 127, 200},
                                                    {5, 100, -1000000}}) {
    for (const float inverse : {0.5F, 1.0F, 16.0F}) {
      std::vector<uint8_t> out(in.size());
      optimized::simd::quantize(in.data(), {inverse, zero_point, lowest, highest}, out.data(),
                                static_cast<int64_t>(in.size()));
      for (size_t i = 0; i < in.size(); ++i) {
        const double scaled = std::isnan(in[i]) ? 0 : std::nearbyint(in[i] * inverse);
        const double expected = std::clamp<double>(scaled + zero_point, lowest, highest);
        ASSERT_EQ(out[i], static_cast<uint8_t>(static_cast<int32_t>(expected)))
            << in[i] << " * " << inverse << " + " << zero_point << ", from " << lowest;
      }
    }
  }
}

TEST(QuantizedValues, RejectsInvalidArguments) {
  check("quantize_per_tensor.out", {{"f32[2] 1.0 0 -129 127 @i8 !i8[2]", "error: -129"},
                                    {"f32[2] 1.0 0 10 -10 @i8 !i8[2]", "error: 10 to -10"},
                                    {"f32[2] 1.0 0 0 1 @f32 !i8[2]", "error: f32"},
                                    {"f32[2] 1.0 0 0 255 @u8 !i8[2]", "error: u8"},
                                    {"i8[2] 1.0 0 -128 127 @i8 !i8[2]", "error: "}});
  check("quantize_per_channel.out",
        {{"f32[2] f64[3] i64[3]{0} 0 -128 127 @i8 !i8[2]", "error: 2 float"}});
}

TEST(QuantizedValues, PerChannelAcceptsAnyAxis) {
  check("quantize_per_channel.out",
        {{"f32[2,2,2]{1,2,3,4,5,6,7,8} f64[2]{1,0.5} i64[2]{0,10} 1 0 255 @u8 !u8[2,2,2]",
          "1,2,16,18,5,6,24,26"}});
  const std::string values = "u8[2,2,2]{1,2,16,18,5,6,24,26} f64[2]{1,0.5} ";
  const std::string rest = " -2 0 255 @u8 none !f32[2,2,2]";
  check("dequantize_per_channel.out",
        {{values + "i32[2]{0,10}" + rest, "1,2,3,4,5,6,7,8"},  // must not be read as i64
         {values + "none" + rest, "1,2,8,9,5,6,12,13"}});
}

// The zero point 1 is added before ties are rounded to even: 0.5 + 1 = 1.5 and 1.5 + 1 = 2.5 are
// both rounded to 2. With rounding first, the results would be 0 + 1 = 1 and 2 + 1 = 3.
TEST(QuantizedValues, PerTokenUsesParametersOfEachRow) {
  check(
      "quantize_per_token.out",
      {{"f32[1,4]{0.5,1.5,2.5,-0.5} f64[1,1]{1} i64[1,1]{1} -128 127 @i8 !i8[1,4]", "2,2,4,0"},
       {"f32[2,1,2]{1,2,3,4} f64[2,1,1]{1,2} i64[2,1,1]{0,1} -128 127 @i8 !i8[2,1,2]", "1,2,2,3"}});
  check("dequantize_per_token.out",
        {{"i8[2,1,2]{1,2,2,3} f64[2,1,1]{1,2} i64[2,1,1]{0,1} -128 127 @i8 @f16 !f16[2,1,2]",
          "1,2,2,4"}});
}

// The kernels read the parameters of a channel after they write earlier channels. Without a check,
// dequantization would overwrite the zero point of the second channel with the first result. That
// result is -0.0f, whose bits are the smallest i32.
TEST_F(Quantized, RejectsOutputThatOverlapsParameters) {
  constexpr const char* kMessage = "the output overlaps the memory of an input";
  for (const bool fast : {false, true}) {
    call.registry = fast ? &optimized_kernels() : nullptr;
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

TEST(QuantizedValues, ChoosesScalesAndZeroPoints) {
  check("choose_qparams.Tensor_out",
        {{"f32[2]{-1,4.1} 0 255 0.000001 @u8 !f64[1] !i64[1]", "0.02 50"},
         // The range always includes 0.
         {"f32[1]{2.55} 0 255 0.000001 @u8 !f64[1] !i64[1]", "0.01 0"}},
        1e-8);
  const std::string op = "choose_qparams_per_token_asymmetric.out";
  const std::string rows = "f32[2,2]{0,0,-2.55,0} @i8 !f64[2,1] !i64[2,1]";
  check(op, {{rows, "1.1920928955078125e-07,? ?,127"}});  // 2^-23
  check(op, {{rows, "?,0.01 ?,127"}}, 1e-8);
}

// The real sum is (10 - 0) * 1 + (4 - 2) * 0.5 = 11. The quantized sum is 11 / 0.5 + 1 = 23.
TEST(QuantizedValues, AddsDequantizedValues) {
  check("add.out",
        {{"u8[2]{10,200} 1.0 0 0 255 u8[2]{4,255} 0.5 2 0 255 0.5 1 0 255 !u8[2]", "23,255"}});
}

TEST(QuantizedValues, EmbeddingsUnpackRows) {
  const std::string scales = "f32[2,2]{1,2,0.5,1} none ";
  check("embedding_byte.out",
        {{"i8[2,2]{1,-2,3,4} " + scales + "-128 127 i64[2]{1,0} !f32[2,2]", "1.5,4,1,-4"}});
  // Byte 241 = 0xf1 holds the values 15 - 8 = 7 (column 0, high bits) and 1 - 8 = -7 (column 1, low
  // bits). Byte 128 = 0x80 holds the values 0 and -8.
  const std::string int4s = "u8[2,1]{241,128} " + scales + "-8 7 ";
  check("embedding_4bit.out", {{int4s + "i64[2]{1,0} !f32[2,2]", "0,-8,7,-14"},
                               {int4s + "i64[2]{0,2} !f32[2,2]", "error: out of range"},
                               {int4s + "i64[2]{0,-1} !f32[2,2]", "error: out of range"}});
  // Byte 228 = 0b11100100 holds the numbers 0, 1, 2 and 3, beginning with the lowest bits. The
  // values are these numbers minus 2.
  check("embedding_2bit.out", {{"u8[2,1]{228,0} f32[2]{1,2} f32[2]{0,1} -2 1 i64[2]{1,0} !f32[2,4]",
                                "-6,-6,-6,-6,-2,-1,0,1"}});
}

// Uses rows of several chunks, groups that begin within a byte, and several threads.
TEST_F(Quantized, EmbeddingsMatchFormula) {
  call.use_threads();
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

TEST(QuantizedValues, MixedDtypeProductsMultiplyWeightsByTheirScales) {
  const std::string inputs = "f32[1,2]{2,3} i8[2,2]{1,2,3,4} f32[2]{10,0.5} none ";
  check("mixed_mm.out", {{inputs + "!f32[1,2]", "24.5,46"}});  // rows of weight are scaled
  check("mixed_linear.out", {{inputs + "none !f32[1,2]", "80,9"}});
}

}  // namespace
}  // namespace vitrine::test
