#include "inspector/join/statistics.h"

#include <algorithm>
#include <numeric>

namespace vitrine::inspector {

TimeStatistics statistics_of(std::vector<double> samples, size_t runs) {
  if (runs == 0) return {};
  std::sort(samples.begin(), samples.end());
  const size_t zeros = runs - samples.size();
  const auto at_rank = [&](size_t rank) { return rank < zeros ? 0.0 : samples[rank - zeros]; };
  const auto percentile = [&](double fraction) {
    const double rank = fraction * static_cast<double>(runs - 1);
    const auto below = static_cast<size_t>(rank);
    const size_t above = std::min(below + 1, runs - 1);
    const double weight = rank - static_cast<double>(below);
    return at_rank(below) + (at_rank(above) - at_rank(below)) * weight;
  };
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {.min = at_rank(0),
          .p50 = percentile(0.5),
          .p90 = percentile(0.9),
          .max = at_rank(runs - 1),
          .avg = sum / static_cast<double>(runs),
          .p10 = percentile(0.1),
          .p25 = percentile(0.25),
          .p75 = percentile(0.75),
          .p95 = percentile(0.95),
          .p99 = percentile(0.99)};
}

std::vector<uint32_t> outliers_of(const RunSamples& wall, const RunWindow& window) {
  constexpr size_t kMinRuns = 5;
  constexpr double kTimesMedian = 2;
  if (window.counted() < kMinRuns) return {};
  const double limit = kTimesMedian * statistics_of(wall, window).p50;
  std::vector<uint32_t> outliers;
  for (const RunSample& sample : wall) {
    if (sample.run >= window.cold && sample.ns > limit) outliers.push_back(sample.run);
  }
  return outliers;
}

TimeStatistics statistics_of(const RunSamples& samples, const RunWindow& window) {
  const auto from = [&](size_t first_run) {
    std::vector<double> ns;
    for (const RunSample& sample : samples) {
      if (sample.run >= first_run) ns.push_back(sample.ns);
    }
    return ns;
  };
  TimeStatistics time = statistics_of(from(window.cold), window.counted());
  if (!samples.empty() && samples.front().run == 0) time.first = samples.front().ns;
  const size_t steady_from = std::max<size_t>(window.cold, 1);
  const bool all_are_steady = window.all <= steady_from || steady_from == window.cold;
  time.steady =
      all_are_steady ? time.p50 : statistics_of(from(steady_from), window.all - steady_from).p50;
  return time;
}

void SampleSum::add(const RunSamples& samples) {
  for (const RunSample& sample : samples) {
    if (!is_touched_[sample.run]) {
      is_touched_[sample.run] = true;
      touched_.push_back(sample.run);
    }
    ns_[sample.run] += sample.ns;
  }
}

RunSamples SampleSum::take() {
  std::sort(touched_.begin(), touched_.end());
  RunSamples sum;
  sum.reserve(touched_.size());
  for (const uint32_t run : touched_) {
    sum.push_back({run, ns_[run]});
    ns_[run] = 0;
    is_touched_[run] = false;
  }
  touched_.clear();
  return sum;
}

}  // namespace vitrine::inspector
