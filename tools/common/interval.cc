#include "tools/common/interval.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/common/median.h"

namespace vitrine::tools {
namespace {

// 95th percentiles of Student's t distribution with 1, 2, ... degrees of freedom, for two-sided
// intervals of 90 %.
constexpr std::array kQuantiles = {6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81};

double quantile(size_t degrees) { return kQuantiles[std::min(degrees, kQuantiles.size()) - 1]; }

}  // namespace

Interval predict_ratio(std::span<const double> blocks) {
  std::vector<double> logs;
  for (const double ratio : blocks) logs.push_back(std::log(ratio));
  const double middle = median_of(logs);
  double half = kBetweenMeasurements;
  if (logs.size() > 1) {
    double sum = 0, squares = 0;
    for (const double log : logs) sum += log;
    const auto count = static_cast<double>(logs.size());
    for (const double log : logs) squares += (log - sum / count) * (log - sum / count);
    const double deviation = std::sqrt(squares / (count - 1));
    half = std::hypot(half, quantile(logs.size() - 1) * deviation * std::sqrt(2 / count));
  }
  return {std::exp(middle - half), std::exp(middle + half)};
}

Interval combined_ratio(std::span<const Interval> ratios) {
  Interval all{1, 1};
  for (const Interval& one : ratios) {
    all.low *= std::min(one.low, 1.0);
    all.high = std::min(all.high, one.high);
  }
  return all;
}

}  // namespace vitrine::tools
