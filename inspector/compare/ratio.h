// Compares the times of two sets of runs: the ratio B / A, its confidence interval, and whether
// there are enough runs to call B faster or slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vitrine::inspector {

enum class Verdict : uint8_t { kTooFewRuns, kNoChange, kFaster, kSlower };

// Minimum number of pairs of runs, or of runs of A and of B if they are not paired. With five
// pairs, even agreement of all of them happens by chance once in 16 times.
inline constexpr size_t kMinRunsToDecide = 6;

// B divided by A. If runs are paired, the ratios are those of the pairs; otherwise, those of every
// run of A with every run of B.
struct Ratio {
  double p50 = 0;
  double low = 0;  // `low` and `high` enclose the middle 80 % of the ratios
  double high = 0;
  double ci_low = 0;   // bounds of the median with a confidence of at least 95 %; unset (0) if the
  double ci_high = 0;  // verdict is kTooFewRuns
  Verdict verdict = Verdict::kTooFewRuns;
  bool is_paired = false;

  bool is_decided() const { return verdict != Verdict::kTooFewRuns; }

  // The interval that decides whether a change is real. Unpaired runs come from two processes, and
  // the runs of one process resemble each other more than those of two processes. The confidence
  // interval is then too narrow, so this interval also contains the middle 80 % of the ratios.
  double decision_low() const;
  double decision_high() const;

  // True if B certainly takes more than `limit` times as long as A.
  bool is_above(double limit) const { return is_decided() && decision_low() > limit; }
  bool is_below(double limit) const { return is_decided() && decision_high() < limit; }
};

// `a[i]` and `b[i]` are the times of a pair. Leaves out pairs without a time of A. Returns nullopt
// if no pair remains.
std::optional<Ratio> ratio_of_pairs(const std::vector<double>& a, const std::vector<double>& b);

// Does the same for runs that are not paired, with all pairs of a run of A and a run of B.
std::optional<Ratio> ratio_of_runs(const std::vector<double>& a, const std::vector<double>& b);

// The sign test's interval of the median of n independent samples is bounded by the k-th smallest
// and the k-th largest sample. Returns the largest k for which it covers the median with a
// probability of at least 95 %, and 0 if there is none.
size_t median_interval_rank(size_t n);

// The same for the ratios of all pairs of m and n samples (Hodges and Lehmann's interval, from the
// exact distribution of Mann and Whitney's U).
size_t pairwise_interval_rank(size_t m, size_t n);

}  // namespace vitrine::inspector
