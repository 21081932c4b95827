#include "bench/report/statistics.h"

#include <algorithm>
#include <cmath>

namespace vitrine::bench {
namespace {

constexpr size_t kStretches = 10;

std::vector<double> sorted_copy(std::vector<double>::const_iterator begin,
                                std::vector<double>::const_iterator end) {
  std::vector<double> sorted(begin, end);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// Divides the samples into equal stretches of consecutive runs, and returns the sorted medians of
// the stretches. If there are too few samples, returns the sorted samples.
std::vector<double> stretch_medians(const std::vector<double>& samples) {
  if (samples.size() < 2 * kStretches) return sorted_copy(samples.begin(), samples.end());
  std::vector<double> medians;
  for (size_t i = 0; i < kStretches; ++i) {
    const auto at = [&](size_t k) {
      return samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * k / kStretches);
    };
    medians.push_back(percentile(sorted_copy(at(i), at(i + 1)), 0.5));
  }
  std::sort(medians.begin(), medians.end());
  return medians;
}

}  // namespace

double percentile(const std::vector<double>& sorted, double p) {
  const double rank = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

Timing timing_of(const std::vector<double>& samples) {
  Timing timing;
  timing.runs = samples.size();
  if (samples.empty()) return timing;
  const std::vector<double> sorted = sorted_copy(samples.begin(), samples.end());
  timing.p50 = percentile(sorted, 0.5);
  timing.p90 = percentile(sorted, 0.9);
  timing.p99 = percentile(sorted, 0.99);
  timing.min = sorted.front();
  const std::vector<double> medians = stretch_medians(samples);
  const size_t cut = samples.size() < 2 * kStretches ? 0 : 1;
  const double range = medians[medians.size() - 1 - cut] - medians[cut];
  timing.noise = timing.p50 > 0 ? range / 2 / timing.p50 : 0;
  return timing;
}

bool within_noise(double ratio, double noise_a, double noise_b) {
  return std::abs(ratio - 1) <= noise_a + noise_b;
}

}  // namespace vitrine::bench
