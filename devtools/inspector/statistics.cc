#include "devtools/inspector/statistics.h"

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
          .avg = sum / static_cast<double>(runs)};
}

}  // namespace vitrine::inspector
