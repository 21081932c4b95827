// Confidence intervals of means of correlated values, such as the scores of neighboring tokens.
//
// The values are split, in order, into blocks of equal length, about the square root of their
// number (batch means; Flegal and Jones, "Batch means and spectral variance estimators in Markov
// chain Monte Carlo", 2010). The sums of blocks vary as much as the correlations inside of the
// blocks make them. While the sums of neighboring blocks are still correlated (r > 1.645 /
// sqrt(blocks)) and eight blocks remain, blocks of twice the length replace them. The interval has
// Student's quantile for the number of blocks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace vitrine {

struct RatioEstimate {
  double value = 0;
  std::optional<double> error;  // half of the 95 % confidence interval; none below kMinBlockValues
  size_t blocks = 0;
};

inline constexpr size_t kMinBlockValues = 32;

// Estimates the sum of `numerators` divided by the sum of `denominators`, which have the same size;
// without denominators, the mean. The interval of a ratio is that of its linearization. No interval
// if a value is not finite.
RatioEstimate estimate_ratio(std::span<const double> numerators,
                             std::span<const double> denominators = {});

// The 97.5 % quantile of Student's t distribution with `freedom` >= 7 degrees of freedom. Uses the
// first terms of its expansion around the normal quantile; the error is at most 0.1 %.
double student_quantile(double freedom);

}  // namespace vitrine
