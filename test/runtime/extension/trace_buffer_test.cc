#include "runtime/extension/trace_buffer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/extension/value_buffer.h"
#include "runtime/extension/value_summary.h"
#include "test/support/tensor_factory.h"

namespace vitrine {
namespace {

using testing::ElementsAre;

TraceRecord at(uint64_t start) { return {.start_ns = start, .end_ns = start + 1}; }

// Returns a text for each block: its name, the start times of its records, and the number of
// records that did not fit.
std::vector<std::string> blocks_of(const TraceBuffer& trace) {
  std::vector<std::string> texts;
  for (const auto& block : trace.blocks()) {
    std::string text = block.name;
    for (const TraceRecord& record : trace.records(block)) {
      text += ' ' + std::to_string(record.start_ns);
    }
    texts.push_back(text + ", dropped " + std::to_string(block.dropped));
  }
  return texts;
}

TEST(TraceBuffer, KeepsTheRecordsOfEachBlockInOrder) {
  TraceBuffer trace(8, 4);
  trace.begin_block("Default");
  trace.record(at(1));
  trace.begin_block("Execute");
  trace.record(at(2));
  trace.record(at(3));
  EXPECT_THAT(blocks_of(trace), ElementsAre("Default 1, dropped 0", "Execute 2 3, dropped 0"));
  EXPECT_EQ(trace.dropped(), 0u);
}

TEST(TraceBuffer, OpensTheDefaultBlockForARecordOutsideOfBlocks) {
  TraceBuffer trace(8, 4);
  trace.record(at(1));
  EXPECT_THAT(blocks_of(trace), ElementsAre("Default 1, dropped 0"));
}

TEST(TraceBuffer, EachBlockCountsTheRecordsThatDidNotFit) {
  TraceBuffer trace(3, 4);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.record(at(2));
  trace.begin_block("Execute");
  trace.record(at(3));
  trace.record(at(4));
  trace.begin_block("Execute");
  trace.record(at(5));
  trace.record(at(6));
  EXPECT_THAT(blocks_of(trace),
              ElementsAre("Execute 1 2, dropped 0", "Execute 3, dropped 1", "Execute, dropped 2"));
  EXPECT_EQ(trace.dropped(), 3u);
}

TEST(TraceBuffer, RecordsTheOperatorsOfADelegate) {
  const TracedOperator operators[] = {{"first kernel", 12, 7}, {"second kernel", 13, -1}};
  const uint64_t ends[] = {20, 35};
  const TracedOperators all{operators, ends, 10, 1, 2};
  TraceBuffer trace(5, 4);
  trace.record_operators(all);
  trace.record_operators(all);
  trace.record_operators(all);
  ASSERT_EQ(trace.blocks().size(), 1u);
  const auto records = trace.records(trace.blocks()[0]);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(trace.dropped(), 1u);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].start_ns, i % 2 == 0 ? 10u : 20u);
    EXPECT_EQ(records[i].end_ns, ends[i % 2]);
    EXPECT_EQ(records[i].delegate_debug_id, operators[i % 2].debug_id);
    EXPECT_EQ(records[i].name, i % 2 == 0 ? nullptr : operators[1].name);
    EXPECT_EQ(records[i].metadata, operators[i % 2].name);
    EXPECT_EQ(records[i].chain_index, 1);
    EXPECT_EQ(records[i].instruction_id, 2);
  }
}

TEST(TraceBuffer, CountsBlocksThatDoNotFitAndTheRecordsInThem) {
  TraceBuffer trace(8, 1);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.begin_block("Execute");
  trace.record(at(2));
  trace.begin_block("Execute");
  EXPECT_THAT(blocks_of(trace), ElementsAre("Execute 1, dropped 0"))
      << "records of a dropped block must not be added to the last block";
  EXPECT_EQ(trace.dropped(), 1u);
  EXPECT_EQ(trace.dropped_blocks(), 2u);
}

TEST(TraceBuffer, ClearDiscardsRecordsAndKeepsCapacity) {
  TraceBuffer trace(1, 1);
  trace.begin_block("Execute");
  trace.record(at(1));
  trace.record(at(2));
  trace.begin_block("Execute");
  trace.clear();
  EXPECT_TRUE(trace.blocks().empty());
  EXPECT_EQ(trace.dropped(), 0u);
  EXPECT_EQ(trace.dropped_blocks(), 0u);
  trace.record(at(3));
  EXPECT_THAT(blocks_of(trace), ElementsAre("Default 3, dropped 0"));
}

TEST(TraceBuffer, CountsRecordsEvenIfCapacityIsZero) {
  TraceBuffer trace(0, 0);
  trace.begin_block("Execute");
  trace.record(at(1));
  EXPECT_TRUE(trace.blocks().empty());
  EXPECT_EQ(trace.dropped(), 1u);
  EXPECT_EQ(trace.dropped_blocks(), 1u);
}

// Compares the figures of summaries with figures computed by hand.

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
  // The histogram divides the range from -3 to 4 into 64 bins. 0 is at 3/7 of the range, 1 at 4/7.
  EXPECT_EQ(summary.histogram[64 * 3 / 7], 2u);
  EXPECT_EQ(summary.histogram[64 * 4 / 7], 1u);
}

TEST(ValueSummary, CountsRealAndImaginaryPartsOfComplexElements) {
  test::TensorFactory factory;
  // 1 + 2i, -3 + 0i, 4 + NaN i
  Tensor& x = factory.make(ScalarType::kComplexFloat, {3});
  std::ranges::copy(std::array{1.0F, 2.0F, -3.0F, 0.0F, 4.0F, kNan},
                    x.unchecked_mutable_data<float>());
  ASSERT_TRUE(can_summarize(x.dtype()));
  const ValueSummary summary = summarize(x, nullptr);
  EXPECT_EQ(summary.count, 6u);
  EXPECT_EQ(summary.nan, 1u);
  EXPECT_EQ(summary.zeros, 1u);
  EXPECT_EQ(summary.min, -3);
  EXPECT_EQ(summary.max, 4);
  EXPECT_DOUBLE_EQ(summary.mean, 4.0 / 5);
}

TEST(ValueSummary, PutsAllElementsIntoTheFirstBinIfTheyAreEqual) {
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

// Expects that `summary` matches figures that are computed from `elements` with long double sums.
void expect_figures(const ValueSummary& summary, const std::vector<double>& elements) {
  std::vector<double> finite;
  size_t nan = 0;
  for (const double x : elements) {
    if (std::isfinite(x)) finite.push_back(x);
    nan += std::isnan(x) ? 1 : 0;
  }
  EXPECT_EQ(summary.count, elements.size());
  EXPECT_EQ(summary.nan, nan);
  EXPECT_EQ(summary.infinite, elements.size() - nan - finite.size());
  EXPECT_EQ(summary.zeros, static_cast<uint64_t>(std::ranges::count(finite, 0.0)));
  const double low = std::ranges::min(finite), high = std::ranges::max(finite);
  EXPECT_EQ(summary.min, low);
  EXPECT_EQ(summary.max, high);
  long double sum = 0, magnitude = 0, squares = 0;
  for (const double x : finite) sum += x;
  for (const double x : finite) magnitude += std::fabs(x);
  const auto count = static_cast<long double>(finite.size());
  const long double mean = sum / count;
  for (const double x : finite) squares += (x - mean) * (x - mean);
  const auto deviation = static_cast<double>(std::sqrt(squares / count));
  EXPECT_NEAR(summary.mean, static_cast<double>(mean),
              1e-14 * static_cast<double>(magnitude / count));
  EXPECT_NEAR(summary.deviation, deviation, 1e-12 * deviation);
  std::array<uint64_t, ValueSummary::kBins> histogram = {};
  for (const double x : finite) {
    const double bin =
        high > low ? std::min((x - low) * (64 / 2.0 / (high / 2 - low / 2)), 63.0) : 0;
    ++histogram.at(static_cast<size_t>(bin));
  }
  EXPECT_EQ(summary.histogram, histogram);
}

TEST(ValueSummary, MatchesElementByElementSums) {
  std::mt19937 random;
  std::normal_distribution<float> normal(3, 2);
  // For the largest `count`, most elements are in two bins, whose 16-bit counters reach their
  // maximum several times.
  for (const size_t count : {1, 7, 8, 9, 31, 1023, 1024, 1025, 5000, 600'001}) {
    SCOPED_TRACE(count);
    if (count > 5000) normal = std::normal_distribution<float>(-1, 1);
    std::vector<float> floats(count);
    for (float& x : floats) x = std::max(normal(random), 0.0F);
    std::vector<int8_t> integers(count);
    for (int8_t& x : integers) x = static_cast<int8_t>(random());
    test::TensorFactory factory;
    const auto size = static_cast<int32_t>(count);
    for (const bool has_nan : {false, true}) {
      if (has_nan && count < 9) continue;
      if (has_nan) {
        floats[count / 2] = kNan;
        floats[count - 1] = -kInfinity;
      }
      expect_figures(summarize(factory.make<float>({size}, floats), nullptr),
                     {floats.begin(), floats.end()});
    }
    // Tests one scale for all elements, and one scale for each half of them.
    const float scales[] = {0.25F, 0.75F};
    const int32_t zero_points[] = {-128, 5};
    for (const size_t rows : {1, 2}) {
      if (count % rows != 0) continue;
      const TracedQuantization quantization{.scales = scales,
                                            .zero_points = zero_points,
                                            .stride_bytes = sizeof(float),
                                            .rows = rows};
      std::vector<double> reals(count);
      for (size_t i = 0; i < count; ++i) {
        const size_t row = i / (count / rows);
        reals[i] = double{scales[row]} * (integers[i] - zero_points[row]);
      }
      expect_figures(summarize(factory.make<int8_t>({size}, integers), &quantization), reals);
    }
  }
}

TEST(ValueSummary, UsesTheQuantizationParametersOfEachRow) {
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
