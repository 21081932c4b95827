// Compares quantized weights with formulas, and with torchao's results in the corpus.
#include "aot/passes/weight_quantization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "aot/graph/aot_error.h"
#include "aot/import/pt2.h"
#include "test/support/corpus.h"
#include "test/support/expect_error.h"
#include "vitrine/half.h"

namespace vitrine::aot {
namespace {

using testing::Each;
using testing::ElementsAre;

template <class T>
TensorData matrix(ScalarType dtype, int64_t rows, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return make_tensor_data(dtype, {rows, static_cast<int64_t>(values.size()) / rows},
                          {bytes.begin(), bytes.end()});
}

template <class T>
std::vector<T> values_of(const TensorData& data) {
  const std::vector<std::byte> bytes = row_major_bytes(data);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::vector<float> random_values(size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.05F);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

TEST(TorchSum, AddsFourVectorsThenSumsTheLanes) {
  const std::vector<float> x = random_values(32);
  float expected = 0;
  for (size_t lane = 0; lane < 8; ++lane) {
    expected += ((x[lane] + x[8 + lane]) + x[16 + lane]) + x[24 + lane];
  }
  EXPECT_EQ(torch_sum(x), expected);
}

TEST(TorchSum, IncludesEveryValue) {
  for (size_t count = 0; count < 3000; count = count * 5 / 4 + 1) {
    std::vector<float> ones(count, 1.0F);
    EXPECT_EQ(torch_sum(ones), static_cast<float>(count));
    if (count == 0) continue;
    ones[count - 1] = 1000;
    EXPECT_EQ(torch_sum(ones), static_cast<float>(count + 999));
  }
}

TEST(QuantizeWeight, KeepsRepresentableValues) {
  const std::vector<float> weight = {-2, 1.75F, 0.25F, -1.5F, 4, -8, 0, 7};
  const QuantizedWeight made =
      quantize_weight(matrix(ScalarType::kFloat, 1, weight), {.bits = 4, .group = 4});
  EXPECT_THAT(values_of<int8_t>(made.values), ElementsAre(-8, 7, 1, -6, 4, -8, 0, 7));
  EXPECT_THAT(values_of<float>(made.scales), ElementsAre(0.25F, 1.0F));
}

// At the end of the search, each value must be the one nearest to weight / scale, and the scale
// must have the least squared error for these values.
TEST(QuantizeWeight, SearchEndsAtTheLeastSquaresScale) {
  const std::vector<float> weight = random_values(40 * 64);
  for (const int bits : {2, 4, 8}) {
    const QuantizedWeight made =
        quantize_weight(matrix(ScalarType::kFloat, 40, weight), {.bits = bits, .group = 32});
    const auto values = values_of<int8_t>(made.values);
    const auto scales = values_of<float>(made.scales);
    ASSERT_EQ(scales.size(), 80U);
    const double half = std::exp2(bits - 1);
    for (size_t group = 0; group < scales.size(); ++group) {
      double product = 0;
      double square = 0;
      for (size_t i = group * 32; i < group * 32 + 32; ++i) {
        const double nearest = std::nearbyint(static_cast<double>(weight[i]) / scales[group]);
        EXPECT_EQ(values[i], std::fmin(std::fmax(nearest, -half), half - 1));
        product += static_cast<double>(weight[i]) * values[i];
        square += static_cast<double>(values[i]) * values[i];
      }
      EXPECT_NEAR(scales[group], product / square, 1e-6 * scales[group]);
    }
  }
}

TEST(QuantizeWeight, AllZeroGroupsHaveTheSmallestScale) {
  for (const ScaleRule rule : {ScaleRule::kHqq, ScaleRule::kAffine}) {
    const QuantizedWeight made =
        quantize_weight(matrix(ScalarType::kFloat, 2, std::vector<float>(12)),
                        {.bits = 4, .group = 3, .scale_rule = rule});
    EXPECT_THAT(values_of<int8_t>(made.values), Each(0));
    EXPECT_THAT(values_of<float>(made.scales), Each(0x1p-23F));
  }
}

TEST(QuantizeWeight, AffineScalesSpanTheRange) {
  const std::vector<float> weight = {7.5F, 2.5F, 3.5F, -0.5F, -7.5F, 1, 0, 7.5F};
  const QuantizedWeight made =
      quantize_weight(matrix(ScalarType::kFloat, 2, weight),
                      {.bits = 4, .group = 0, .scale_rule = ScaleRule::kAffine});
  EXPECT_THAT(values_of<float>(made.scales), ElementsAre(1.0F, 1.0F));
  EXPECT_THAT(values_of<int8_t>(made.values), ElementsAre(7, 2, 4, 0, -8, 1, 0, 7));
}

TEST(QuantizeWeight, ScalesHaveTheDtypeOfTheWeight) {
  const std::vector<float> floats = random_values(64);
  const std::vector<Half> halves(floats.begin(), floats.end());
  const std::vector<float> rounded(halves.begin(), halves.end());
  const WeightScheme scheme = {.bits = 4, .group = 32};
  const QuantizedWeight of_halves = quantize_weight(matrix(ScalarType::kHalf, 1, halves), scheme);
  const QuantizedWeight of_floats = quantize_weight(matrix(ScalarType::kFloat, 1, rounded), scheme);
  EXPECT_EQ(values_of<int8_t>(of_halves.values), values_of<int8_t>(of_floats.values));
  ASSERT_EQ(of_halves.scales.dtype, ScalarType::kHalf);
  const auto scales = values_of<Half>(of_halves.scales);
  const auto exact = values_of<float>(of_floats.scales);
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(scales[i].bits, Half(exact[i]).bits);
  const std::vector<BFloat16> brains(floats.begin(), floats.end());
  EXPECT_EQ(quantize_weight(matrix(ScalarType::kBFloat16, 2, brains), scheme).scales.dtype,
            ScalarType::kBFloat16);
}

TEST(QuantizeWeight, ReadsStridedWeights) {
  const std::vector<float> weight = {1, 10, 2, 20, 3, 30, 4, 40};
  TensorData transposed = matrix(ScalarType::kFloat, 4, weight);
  transposed.sizes = {2, 4};
  transposed.strides = {1, 2};
  const QuantizedWeight made =
      quantize_weight(transposed, {.bits = 8, .group = 0, .scale_rule = ScaleRule::kAffine});
  EXPECT_THAT(values_of<float>(made.scales), ElementsAre(4 / 127.5F, 40 / 127.5F));
  EXPECT_THAT(values_of<int8_t>(made.values), ElementsAre(32, 64, 96, 127, 32, 64, 96, 127));
}

TEST(QuantizeWeight, RejectsUnsupportedWeights) {
  const auto error = [](const TensorData& weight, int64_t group, const char* text) {
    EXPECT_ERROR(AotError, quantize_weight(weight, {.bits = 4, .group = group}), text);
  };
  error(matrix(ScalarType::kFloat, 1, std::vector<float>(6)), 4,
        "the row length 6 is not a multiple of the group size 4");
  error(matrix(ScalarType::kFloat, 1, std::vector<float>(6)), -2,
        "not a multiple of the group size -2");
  error(matrix(ScalarType::kDouble, 1, std::vector<double>(8)), 4, "the weight is f64");
  error(matrix(ScalarType::kFloat, 1, std::vector<float>(4, std::nanf(""))), 4, "NaN or infinity");
  error(matrix(ScalarType::kFloat, 1, std::vector<float>(4, HUGE_VALF)), 4, "NaN or infinity");
}

TEST(PackRows, HasTheBitOrderOfEmbeddingOperators) {
  const TensorData values = matrix(ScalarType::kChar, 1, std::vector<int8_t>{-8, 7, 0, 1});
  EXPECT_THAT(values_of<uint8_t>(pack_rows(values, 4)), ElementsAre(0x0f, 0x89));
  const TensorData small = matrix(ScalarType::kChar, 1, std::vector<int8_t>{-2, 1, 0, -1});
  EXPECT_THAT(values_of<uint8_t>(pack_rows(small, 2)), ElementsAre(0b01'10'11'00));
  EXPECT_ERROR(AotError, pack_rows(matrix(ScalarType::kChar, 1, std::vector<int8_t>(6)), 2),
               "the row length 6 is not a multiple of 4");
}

// torchao quantized this model with its affine rule. The scale of a group determines its weight
// with the largest magnitude. This magnitude is 7.5 * scale, rounded to f16, because the weights
// have few digits. The weight is negative if no quantized value of the group is 7. In all such
// groups, the test quantizes this weight and expects torchao's scale and value.
TEST(QuantizeWeight, AffineMatchesTorchao) {
  VITRINE_NEEDS_CORPUS_LLM();
  const ExportedProgram program =
      import_pt2(test::corpus_llm_dir() / "hf_qwen3_custom_sdpa_8da4w/model.pt2");
  size_t compared = 0;
  size_t rounded_down = 0;
  for (const auto& [name, data] : program.state_dict) {
    if (!name.ends_with(".original0")) continue;
    const auto values = values_of<int8_t>(data);
    const auto scales =
        values_of<float>(program.state_dict.at(name.substr(0, name.size() - 1) + "1"));
    for (size_t group = 0; group < scales.size(); ++group) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(group * 32);
      if (std::find(first, first + 32, 7) != first + 32) continue;
      const int8_t min = *std::min_element(first, first + 32);
      std::vector<float> weight(32);
      weight[0] = -static_cast<float>(Half(scales[group] * 7.5F));
      const QuantizedWeight made =
          quantize_weight(matrix(ScalarType::kFloat, 1, weight),
                          {.bits = 4, .group = 0, .scale_rule = ScaleRule::kAffine});
      EXPECT_EQ(values_of<float>(made.scales)[0], scales[group]) << name;
      EXPECT_EQ(values_of<int8_t>(made.values)[0], min) << name;
      ++compared;
      rounded_down += min == -7 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 500U);
  EXPECT_GT(rounded_down, 100U);
}

}  // namespace
}  // namespace vitrine::aot
