// Figures of repeated measurements, and how far they can be trusted.
#pragma once

#include <cstddef>
#include <vector>

namespace vitrine::bench {

// Times in ns a run.
struct Timing {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double min = 0;
  // Share of p50 by which it may be off, either way: half of the range of the medians of ten
  // stretches of the runs, without the lowest and the highest. That range holds the true median
  // with a probability of 98 % (sign test). With fewer runs: half of the range of all of them.
  double noise = 0;
  size_t runs = 0;
};

// `samples` in the order of the runs. All zero without samples.
Timing timing_of(const std::vector<double>& samples);

// As numpy's default: rank p * (size - 1), linear in between. `sorted` is not empty.
double percentile(const std::vector<double>& sorted, double p);

// Whether `ratio` of two medians may be chance: it lies within what their noises allow.
bool within_noise(double ratio, double noise_a, double noise_b);

}  // namespace vitrine::bench
