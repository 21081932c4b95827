#pragma once

#include <cstddef>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// Computes statistics over all `runs` runs. `samples` has at most one time for each run, in any
// order. Runs without a sample count as 0; samples must then not be negative. Percentiles follow
// numpy's default: rank p * (runs - 1) with linear interpolation. Returns zeros for zero runs.
// `first` and `steady` are always zero.
TimeStatistics statistics_of(std::vector<double> samples, size_t runs);

struct RunWindow {
  size_t cold = 0;  // number of first runs that are not counted
  size_t all = 0;   // number of runs, counted or not
  size_t counted() const { return all - cold; }
};

// Returns the counted runs, ascending, that took more than twice the median. Empty if fewer than
// five runs are counted. `wall` has a sample for every run.
std::vector<uint32_t> outliers_of(const RunSamples& wall, const RunWindow& window);

// Computes all statistics, including `first` and `steady`. If some runs lack a sample, samples must
// not be negative.
TimeStatistics statistics_of(const RunSamples& samples, const RunWindow& window);

// Sums the samples of several rows, run by run. Not thread-safe.
class SampleSum {
 public:
  explicit SampleSum(size_t runs) : ns_(runs), is_touched_(runs) {}
  void add(const RunSamples& samples);
  // Returns the sums and resets them.
  RunSamples take();

 private:
  std::vector<double> ns_;
  std::vector<bool> is_touched_;
  std::vector<uint32_t> touched_;
};

}  // namespace vitrine::inspector
