// Tests the ranges, scales and histograms that observers compute.
#include "aot/quantize/observers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// `count` values from 0 to 1 in equal steps.
std::vector<float> ramp(size_t count, float factor = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = factor * static_cast<float>(i) / static_cast<float>(count - 1);
  }
  return values;
}

double total(const HistogramObserver& observer) {
  return std::accumulate(observer.counts().begin(), observer.counts().end(), 0.0);
}

TEST(AffineParameters, RangeIncludesZero) {
  const AffineParameters both = affine_parameters(-1, 3, -128, 127);
  EXPECT_EQ(both.scale, 4.0F / 255);
  EXPECT_EQ(both.zero_point, -64);  // -128 + 63.75, rounded
  EXPECT_EQ(affine_parameters(1, 2, -128, 127).scale, 2.0F / 255);
  EXPECT_EQ(affine_parameters(1, 2, -128, 127).zero_point, -128);
  EXPECT_EQ(affine_parameters(-2, -1, -128, 127).zero_point, 127);
}

TEST(AffineParameters, HasMinimumScaleAndRejectsInvalidBounds) {
  EXPECT_EQ(affine_parameters(0, 0, -128, 127).scale, kMinScale);
  EXPECT_EQ(affine_parameters(0, 0.06F, -128, 127).scale, kMinScale);
  EXPECT_THROW(affine_parameters(std::nanf(""), 1, -128, 127), AotError);
  EXPECT_THROW(affine_parameters(-3e38F, 3e38F, -128, 127), AotError);
}

TEST(MinMaxObserver, ChoosesAScalePerChannelEvenIfTheChannelDimIsNotOutermost) {
  MinMaxObserver observer(2);
  observer.observe(Floats{1, -2, 0.5F, 0, 0, 0}, 3);
  EXPECT_EQ(observer.scales(-127, 127), (std::vector<float>{2.0F / 127, kMinScale}));
  MinMaxObserver inner(2);
  inner.observe(Floats{1, 10, 2, 20}, 1);  // [2, 2, 1]
  EXPECT_EQ(inner.scales(-127, 127), (std::vector<float>{2.0F / 127, 20.0F / 127}));
}

TEST(MinMaxObserver, RejectsNanAndInfinity) {
  MinMaxObserver observer(1);
  EXPECT_THROW(observer.observe(Floats{1, kNan}, 2), AotError);
  EXPECT_THROW(observer.observe(Floats{1, -kInfinity}, 2), AotError);
}

TEST(HistogramObserver, CountsValuesInBins) {
  HistogramObserver observer;
  std::vector<float> values(2049);
  std::iota(values.begin(), values.end(), 0.0F);
  observer.observe(values);
  EXPECT_EQ(observer.low(), 0);
  EXPECT_EQ(observer.high(), 2048);
  EXPECT_EQ(observer.counts()[0], 1);
  EXPECT_EQ(observer.counts()[2046], 1);
  EXPECT_EQ(observer.counts()[2047], 2) << "the highest value belongs to the last bin";
}

TEST(HistogramObserver, DropsTheTopBinOfUniformValues) {
  HistogramObserver observer;
  observer.observe(ramp(5000));
  const HistogramObserver::Range range = observer.search();
  EXPECT_EQ(range.first_bin, 0U);
  EXPECT_EQ(range.last_bin, 2046U);
  EXPECT_EQ(range.high, 2047.0F / 2048);
}

TEST(HistogramObserver, ClipsRareOutliers) {
  HistogramObserver observer;
  std::vector<float> values = ramp(1'000'000);
  values.push_back(16);
  observer.observe(values);
  const HistogramObserver::Range range = observer.search();
  EXPECT_GT(range.high, 0.98F);
  EXPECT_LT(range.high, 1.02F);
}

TEST(HistogramObserver, KeepsTheCountWhenTheRangeGrows) {
  HistogramObserver observer;
  observer.observe(ramp(100));
  observer.observe(ramp(100, -3));
  observer.observe(ramp(100, 0.5F));
  EXPECT_EQ(observer.low(), -3);
  EXPECT_EQ(observer.high(), 1);
  EXPECT_DOUBLE_EQ(total(observer), 300);
}

TEST(HistogramObserver, KeepsTheCountOfASingleValueWhenTheRangeGrows) {
  HistogramObserver observer;
  observer.observe(Floats{2, 2, 2});
  const HistogramObserver::Range single = observer.search();
  EXPECT_EQ(single.low, 2);
  EXPECT_EQ(single.high, 2);
  observer.observe(Floats{0, 4});
  EXPECT_EQ(total(observer), 5);
  EXPECT_EQ(observer.counts()[1024], 3);
}

TEST(HistogramObserver, ExcludesInfiniteValuesButRecordsThatTheyOccurred) {
  HistogramObserver observer;
  observer.observe(Floats{kInfinity});
  EXPECT_TRUE(observer.is_empty());
  EXPECT_TRUE(observer.has_infinite());
  observer.observe(Floats{1, -kInfinity, 3});
  EXPECT_EQ(observer.low(), 1);
  EXPECT_EQ(observer.high(), 3);
  EXPECT_EQ(total(observer), 2);
}

TEST(HistogramObserver, IgnoresEmptyTensorsAndRejectsNanAndHugeRanges) {
  HistogramObserver observer;
  observer.observe({});
  EXPECT_TRUE(observer.is_empty());
  EXPECT_FALSE(observer.has_infinite());
  EXPECT_THROW(observer.observe(Floats{1, kNan}), AotError);
  EXPECT_THROW(observer.observe(Floats{-1e37F, 1e37F}), AotError);
}

}  // namespace
}  // namespace vitrine::aot
