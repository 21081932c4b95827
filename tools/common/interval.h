// Computes intervals of time ratios of two programs, and combines intervals of several changes.
#pragma once

#include <span>
#include <vector>

namespace vitrine::tools {

struct Interval {
  double low = 0;
  double high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
  double middle() const { return (low + high) / 2; }
};

// Relative difference between two measurements of equal programs (docs/benchmarks.md, "False
// alarms").
inline constexpr double kBetweenMeasurements = 0.05;

// Returns the interval in which a second measurement of the ratio is expected (docs/advice.md).
// `blocks` has the median ratio of each block of runs. Precondition: `blocks` is not empty, and its
// ratios are positive.
Interval predict_ratio(std::span<const double> blocks);

// Predicts the time ratio of several changes together. Low: the product of the ratios (independent
// changes). High: the best single ratio (changes that save the same time).
Interval combined_ratio(std::span<const Interval> ratios);

}  // namespace vitrine::tools
