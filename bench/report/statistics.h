// Statistics of repeated measurements, and their uncertainty.
#pragma once

#include <cstddef>
#include <vector>

namespace vitrine::bench {

// Times in ns per run.
struct Timing {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  // The uncertainty of p50, as a fraction of p50: half of the range of the medians of ten stretches
  // of consecutive runs, without the lowest and the highest median. The true median is in this
  // range with a probability of 98 % (sign test). With fewer than 20 runs, the noise is half of the
  // range of all runs.
  double noise = 0;
  size_t runs = 0;
};

// Computes the statistics. `samples` are in the order of the runs. Without samples, all members are
// zero.
Timing timing_of(const std::vector<double>& samples);

// Returns the element of rank p * (size - 1), interpolated linearly. `sorted` must not be empty.
double percentile(const std::vector<double>& sorted, double p);

// Returns true if `ratio`, a ratio of two medians, differs from 1 by at most the sum of the noises.
bool within_noise(double ratio, double noise_a, double noise_b);

}  // namespace vitrine::bench
