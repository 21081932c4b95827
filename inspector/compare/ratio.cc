#include "inspector/compare/ratio.h"

#include <algorithm>
#include <cmath>

#include "inspector/join/statistics.h"

namespace vitrine::inspector {
namespace {

constexpr double kTailProbability = 0.025;  // probability on each side of an interval

// The measured times of equal programs rarely differ by more than 2 % (docs/benchmarks.md, "False
// alarms").
constexpr double kMinChange = 0.02;

// Maximum number of samples of each side that are used if runs are not paired.
constexpr size_t kMaxSamples = 100;

// Returns the samples in ascending order: all samples, or kMaxSamples evenly spaced samples.
std::vector<double> thinned(std::vector<double> samples) {
  std::ranges::sort(samples);
  if (samples.size() <= kMaxSamples) return samples;
  std::vector<double> thinned_samples;
  for (size_t i = 0; i < kMaxSamples; ++i) {
    thinned_samples.push_back(samples[i * (samples.size() - 1) / (kMaxSamples - 1)]);
  }
  return thinned_samples;
}

// Summarizes the ratios B / A of single runs. The confidence interval extends from the `rank`-th
// smallest to the `rank`-th largest ratio. Rank 0 means too few runs for an interval and a verdict.
std::optional<Ratio> ratio_with_verdict(std::vector<double> ratios, size_t rank, bool is_paired) {
  if (ratios.empty()) return std::nullopt;
  std::ranges::sort(ratios);
  const TimeStatistics spread = statistics_of(ratios, ratios.size());
  Ratio ratio{.p50 = spread.p50, .low = spread.p10, .high = spread.p90, .is_paired = is_paired};
  if (rank == 0) return ratio;
  ratio.ci_low = ratios[rank - 1];
  ratio.ci_high = ratios[ratios.size() - rank];
  ratio.verdict = Verdict::kNoChange;
  if (ratio.is_above(1 + kMinChange)) ratio.verdict = Verdict::kSlower;
  if (ratio.is_below(1 - kMinChange)) ratio.verdict = Verdict::kFaster;
  return ratio;
}

}  // namespace

double Ratio::decision_low() const { return is_paired ? ci_low : std::min(ci_low, low); }
double Ratio::decision_high() const { return is_paired ? ci_high : std::max(ci_high, high); }

std::optional<Ratio> ratio_of_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] > 0) ratios.push_back(b[i] / a[i]);
  }
  const size_t rank = median_interval_rank(ratios.size());
  return ratio_with_verdict(std::move(ratios), rank, true);
}

std::optional<Ratio> ratio_of_runs(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> samples_a = thinned(a);
  std::erase_if(samples_a, [](double sample) { return sample <= 0; });
  const std::vector<double> samples_b = thinned(b);
  std::vector<double> ratios;
  ratios.reserve(samples_a.size() * samples_b.size());
  for (const double sample_a : samples_a) {
    for (const double sample_b : samples_b) ratios.push_back(sample_b / sample_a);
  }
  const bool is_enough = std::min(samples_a.size(), samples_b.size()) >= kMinRunsToDecide;
  const size_t rank = is_enough ? pairwise_interval_rank(samples_a.size(), samples_b.size()) : 0;
  return ratio_with_verdict(std::move(ratios), rank, false);
}

size_t median_interval_rank(size_t n) {
  // `below` is the probability of at most k heads in n coin tosses. Logarithms prevent an underflow
  // of 0.5^n.
  const auto size = static_cast<double>(n);
  double below = 0;
  for (size_t k = 0; k <= n / 2; ++k) {
    const auto heads = static_cast<double>(k);
    below += std::exp(std::lgamma(size + 1) - std::lgamma(heads + 1) -
                      std::lgamma(size - heads + 1) - size * std::log(2.0));
    if (below > kTailProbability) return k;
  }
  return 0;
}

size_t pairwise_interval_rank(size_t m, size_t n) {
  // ways[u] is the number of orderings of m + n samples for which Mann and Whitney's U is u. This
  // number is a coefficient of the Gaussian binomial, the product of (1 - q^(n + i)) / (1 - q^i)
  // over i from 1 to m.
  const size_t middle = m * n / 2;
  std::vector<double> ways(middle + 1, 0.0);
  ways[0] = 1;
  double all = 1;
  for (size_t i = 1; i <= m; ++i) {
    for (size_t u = middle; u >= n + i; --u) ways[u] -= ways[u - n - i];
    for (size_t u = i; u <= middle; ++u) ways[u] += ways[u - i];
    all *= static_cast<double>(n + i) / static_cast<double>(i);
  }
  double below = 0;
  for (size_t u = 0; u <= middle; ++u) {
    below += ways[u] / all;
    if (below > kTailProbability) return u;
  }
  return 0;
}

}  // namespace vitrine::inspector
