// Computes intervals of time ratios from blocks of paired runs of two programs, and combines the
// intervals of several changes.
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

// The relative difference that can occur between the measured times of two equal programs
// (docs/benchmarks.md, "False alarms").
inline constexpr double kBetweenMeasurements = 0.05;

// Returns the interval in which a second measurement of the same ratio is expected. `blocks` has
// the median ratio of each block of runs. docs/advice.md has the formula. Precondition: `blocks` is
// not empty, and its ratios are positive.
Interval predict_ratio(std::span<const double> blocks);

// Predicts the time ratio of several changes together from the ratio of each change. If the changes
// are independent, their ratios multiply (lower bound). If they save the same time, only the best
// change counts (upper bound).
Interval combined_ratio(std::span<const Interval> ratios);

}  // namespace vitrine::tools
