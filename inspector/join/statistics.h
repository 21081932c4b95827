// Statistics over runs.
#pragma once

#include <cstddef>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

// `samples` are those of the runs that have one; the other runs of `runs` count as zero. With
// fewer samples than runs no sample may be negative. Percentiles as numpy's default: rank
// p * (runs - 1), linear in between. All zero for zero runs.
// `first` and `steady` are left at zero.
TimeStatistics statistics_of(std::vector<double> samples, size_t runs);

// Runs of a trace: the first `cold` do not count.
struct RunWindow {
  size_t cold = 0;
  size_t all = 0;
  std::vector<uint32_t> outliers = {};  // ascending; counted, but not in averages
  size_t counted() const { return all - cold; }
};

// Counted runs that took more than twice the median of all of them; none of fewer than five.
// `wall` has a sample of every run.
std::vector<uint32_t> outliers_of(const RunSamples& wall, const RunWindow& window);

// All figures, `first` and `steady` included. The rule for negative samples is as above.
TimeStatistics statistics_of(const RunSamples& samples, const RunWindow& window);

// Adds up samples of several rows run by run. Not thread-safe.
class SampleSum {
 public:
  explicit SampleSum(size_t runs) : ns_(runs), is_touched_(runs) {}
  void add(const RunSamples& samples);
  // Returns the sum and resets it.
  RunSamples take();

 private:
  std::vector<double> ns_;
  std::vector<bool> is_touched_;
  std::vector<uint32_t> touched_;
};

}  // namespace vitrine::inspector
