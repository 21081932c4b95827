// Computes intervals of gains from blocks of paired runs, and combines the intervals of several
// changes.
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

// The relative difference that can occur between the measured times of two equal programs. It may
// not be visible in the blocks of one measurement, because the addresses of a program's data can be
// the same in all blocks (docs/benchmarks.md, "False alarms").
inline constexpr double kBetweenMeasurements = 0.05;

// Returns the interval in which a second measurement of the same ratio is expected. `blocks` has
// the median ratio of each block of runs. docs/advice.md has the formula. Precondition: `blocks` is
// not empty, and its ratios are positive.
Interval predict_ratio(std::span<const double> blocks);

// Predicts the ratio of several changes together from the ratio of each. If they are independent,
// their ratios multiply (lower bound). If they save the same time, only the best one counts (upper
// bound).
Interval combined_ratio(std::span<const Interval> ratios);

}  // namespace vitrine::tools
