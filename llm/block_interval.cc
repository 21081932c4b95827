#include "llm/block_interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace vitrine {
namespace {

constexpr size_t kMinBlocks = 8;
constexpr double kOneSided = 1.645;  // 95 % quantile of the normal distribution

// Returns the sums of `blocks` consecutive parts of `values`. Lengths of parts differ by at most
// one.
std::vector<double> block_sums(std::span<const double> values, size_t blocks) {
  std::vector<double> sums(blocks);
  for (size_t i = 0; i < blocks; ++i) {
    const size_t begin = i * values.size() / blocks;
    const size_t end = (i + 1) * values.size() / blocks;
    for (size_t at = begin; at < end; ++at) sums[i] += values[at];
  }
  return sums;
}

double square_sum(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

// Precondition: the mean of the values is 0.
double neighbor_correlation(std::span<const double> values) {
  const double squares = square_sum(values);
  if (squares == 0) return 0;
  double products = 0;
  for (size_t i = 1; i < values.size(); ++i) products += values[i - 1] * values[i];
  return products / squares;
}

}  // namespace

double student_quantile(double freedom) {
  const double inverse = 1 / freedom;
  return 1.95996 + inverse * (2.37227 + inverse * (2.8225 + inverse * 2.5559));
}

RatioEstimate estimate_ratio(std::span<const double> numerators,
                             std::span<const double> denominators) {
  const size_t count = numerators.size();
  const double total = std::accumulate(numerators.begin(), numerators.end(), 0.0);
  const double divisor = denominators.empty()
                             ? static_cast<double>(count)
                             : std::accumulate(denominators.begin(), denominators.end(), 0.0);
  RatioEstimate estimate{.value = total / divisor, .error = {}, .blocks = 0};
  if (count < kMinBlockValues || !std::isfinite(estimate.value)) return estimate;
  std::vector<double> residuals(count);
  for (size_t i = 0; i < count; ++i) {
    const double expected = denominators.empty() ? 1 : denominators[i];
    residuals[i] = numerators[i] - estimate.value * expected;
  }
  auto blocks = std::max(kMinBlocks, static_cast<size_t>(std::sqrt(static_cast<double>(count))));
  std::vector<double> sums = block_sums(residuals, blocks);
  while (blocks / 2 >= kMinBlocks &&
         neighbor_correlation(sums) > kOneSided / std::sqrt(static_cast<double>(blocks))) {
    blocks /= 2;
    sums = block_sums(residuals, blocks);
  }
  const auto freedom = static_cast<double>(blocks - 1);
  const double variance = square_sum(sums) * static_cast<double>(blocks) / freedom;
  estimate.error = student_quantile(freedom) * std::sqrt(variance) / divisor;
  estimate.blocks = blocks;
  return estimate;
}

}  // namespace vitrine
