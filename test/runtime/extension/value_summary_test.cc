// Tests the figures of summaries against sums by hand.
#include "runtime/extension/value_summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/extension/value_buffer.h"
#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ValueSummary, CountsAndMeasuresFiniteElements) {
  test::TensorFactory factory;
  const Tensor& x = factory.make<float>({2, 4}, {1, 0, -3, kNan, 4, kInfinity, -kInfinity, 0});
  const ValueSummary summary = summarize(x, nullptr);
  EXPECT_EQ(summary.count, 8u);
  EXPECT_EQ(summary.nan, 1u);
  EXPECT_EQ(summary.infinite, 2u);
  EXPECT_EQ(summary.zeros, 2u);
  EXPECT_EQ(summary.saturated, 0u);
  EXPECT_EQ(summary.min, -3);
  EXPECT_EQ(summary.max, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 2.0 / 5);
  // The sum of squares is 26, so the variance is 26 / 5 - 0.4^2.
  EXPECT_DOUBLE_EQ(summary.deviation, std::sqrt(26.0 / 5 - 0.16));
  EXPECT_EQ(std::reduce(summary.histogram.begin(), summary.histogram.end()), 5u);
  EXPECT_EQ(summary.histogram.front(), 1u);  // -3
  EXPECT_EQ(summary.histogram.back(), 1u);   // 4
  // Zero is 3/7 of the way from -3 to 4, and one 4/7.
  EXPECT_EQ(summary.histogram[64 * 3 / 7], 2u);
  EXPECT_EQ(summary.histogram[64 * 4 / 7], 1u);
}

TEST(ValueSummary, PutsEqualElementsIntoTheFirstBin) {
  test::TensorFactory factory;
  const ValueSummary summary = summarize(factory.make<float>({3}, {2, 2, 2}), nullptr);
  EXPECT_EQ(summary.histogram[0], 3u);
  EXPECT_EQ(summary.deviation, 0);
}

TEST(ValueSummary, AcceptsElementsWhoseDifferenceOverflows) {
  test::TensorFactory factory;
  constexpr double kMax = std::numeric_limits<double>::max();
  const ValueSummary summary = summarize(factory.make<double>({2}, {-kMax, kMax}), nullptr);
  EXPECT_EQ(summary.min, -kMax);
  EXPECT_EQ(std::reduce(summary.histogram.begin(), summary.histogram.end()), 2u);
}

TEST(ValueSummary, MeasuresQuantizedTensorsAsRealNumbers) {
  test::TensorFactory factory;
  const Tensor& x = factory.make<int8_t>({5}, {-128, -128, -100, 27, 127});
  const float scale = 0.5F;
  int32_t zero_point = -128;
  TracedQuantization quantization{.scales = &scale, .zero_points = &zero_point};
  ValueSummary summary = summarize(x, &quantization);
  EXPECT_EQ(summary.min, 0);
  EXPECT_EQ(summary.max, 127.5);
  EXPECT_EQ(summary.zeros, 2u);
  EXPECT_EQ(summary.saturated, 1u);  // the lower end represents 0
  zero_point = 3;
  summary = summarize(x, &quantization);
  EXPECT_EQ(summary.min, -65.5);
  EXPECT_EQ(summary.saturated, 3u);
}

TEST(ValueSummary, UsesTheParametersOfEachRow) {
  test::TensorFactory factory;
  const Tensor& x = factory.make<int8_t>({2, 2}, {1, 2, 1, 2});
  struct Parameters {
    int32_t zero_point;
    float scale;
  };
  const Parameters rows[] = {{0, 1}, {1, 10}};
  const TracedQuantization quantization{.scales = &rows[0].scale,
                                        .zero_points = &rows[0].zero_point,
                                        .stride_bytes = sizeof(Parameters),
                                        .rows = 2};
  std::array<float, 4> floats{};
  dequantize(x, quantization, floats.data());
  EXPECT_EQ(floats, (std::array<float, 4>{1, 2, 0, 10}));
  EXPECT_EQ(summarize(x, &quantization).max, 10);
}

TEST(ValueBufferTest, KeepsSummariesInConstantSpace) {
  test::TensorFactory factory;
  Tensor& x = factory.make<float>({1000}, std::vector<float>(1000, 3));
  const EValue value(&x);
  const size_t entry_bytes = (sizeof(ValueSummary) + 63) / 64 * 64;
  ValueBuffer buffer(2 * entry_bytes, 8, ValueBuffer::Content::kSummaries);
  for (int i = 0; i < 3; ++i) buffer.add({.value = &value}, 0);
  EXPECT_EQ(buffer.entries().size(), 2u);
  EXPECT_EQ(buffer.dropped(), 1u);
  const ValueBuffer::Entry& entry = buffer.entries()[1];
  EXPECT_EQ(entry.offset, ValueBuffer::Entry::kNoData);
  EXPECT_EQ(buffer.summary(entry).count, 1000u);
  EXPECT_EQ(buffer.summary(entry).mean, 3);
}

}  // namespace
}  // namespace vitrine
