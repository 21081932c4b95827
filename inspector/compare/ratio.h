// The ratio B / A between the times of two sets of runs, its confidence interval, and a verdict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vitrine::inspector {

enum class Verdict : uint8_t { kTooFewRuns, kNoChange, kFaster, kSlower };

// Minimum number of pairs of runs, or of unpaired runs of each side. With five pairs of equally
// fast runs, one side wins all pairs with a probability of 1/16, which is more than 5 %.
inline constexpr size_t kMinRunsToDecide = 6;

// The ratios B / A of times: one ratio per pair of runs. Unpaired runs have one ratio for each
// combination of a run of A and a run of B.
struct Ratio {
  double p50 = 0;
  double low = 0;  // `low` and `high` enclose the middle 80 % of the ratios
  double high = 0;
  double ci_low = 0;   // lower end of the median's 95 % confidence interval; 0 for kTooFewRuns
  double ci_high = 0;  // upper end of the median's 95 % confidence interval; 0 for kTooFewRuns
  Verdict verdict = Verdict::kTooFewRuns;
  bool is_paired = false;

  bool is_decided() const { return verdict != Verdict::kTooFewRuns; }

  // The interval that decides if a change is real. For paired runs, this is the confidence
  // interval. Unpaired runs come from two processes. Runs of one process resemble each other, which
  // makes the confidence interval too narrow. The interval for unpaired runs therefore also
  // includes the middle 80 % of the ratios.
  double decision_low() const;
  double decision_high() const;

  // True if B certainly takes more than `limit` times as long as A.
  bool is_above(double limit) const { return is_decided() && decision_low() > limit; }
  bool is_below(double limit) const { return is_decided() && decision_high() < limit; }
};

// Returns the ratio of paired runs: `a[i]` and `b[i]` are the times of a pair. Leaves out pairs in
// which A took no time. Returns nullopt if no pair remains.
std::optional<Ratio> ratio_of_pairs(const std::vector<double>& a, const std::vector<double>& b);

// Returns the ratio of unpaired runs, from all combinations of a run of A and a run of B.
std::optional<Ratio> ratio_of_runs(const std::vector<double>& a, const std::vector<double>& b);

// The sign test's interval of the median of n independent samples is bounded by the k-th smallest
// and the k-th largest sample. Returns the largest k for which the interval covers the median with
// a probability of at least 95 %, or 0.
size_t median_interval_rank(size_t n);

// Like median_interval_rank(), but for the m * n ratios between m samples of A and n samples of B.
// This is Hodges and Lehmann's interval, from the exact distribution of Mann and Whitney's U.
size_t pairwise_interval_rank(size_t m, size_t n);

}  // namespace vitrine::inspector
