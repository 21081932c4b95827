// Confidence intervals of means of correlated values, such as the scores of neighboring tokens.
//
// The values are split, in order, into blocks whose lengths differ by at most one. The number of
// blocks is about the square root of the number of values (batch means; Flegal and Jones, "Batch
// means and spectral variance estimators in Markov chain Monte Carlo", 2010). The variance of the
// blocks' sums includes the effect of correlations within blocks. If the sums of neighboring blocks
// are correlated (r > 1.645 / sqrt(blocks)), the number of blocks is halved. This is repeated until
// the sums are not correlated, or until another halving would leave fewer than eight blocks. The
// interval uses the quantile of Student's t distribution with blocks - 1 degrees of freedom.
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

// Estimates the sum of `numerators` divided by the sum of `denominators`, or the mean of
// `numerators` if `denominators` is empty. If `denominators` is not empty, both lists must have the
// same size. The interval of a ratio is computed from the ratio's linearization. The result has no
// interval if the estimate is not finite, or if `numerators` has fewer than kMinBlockValues values.
RatioEstimate estimate_ratio(std::span<const double> numerators,
                             std::span<const double> denominators = {});

// Returns the 97.5 % quantile of Student's t distribution with `freedom` >= 7 degrees of freedom.
// Uses the first terms of the quantile's expansion around the normal quantile. The error is at most
// 0.1 %.
double student_quantile(double freedom);

}  // namespace vitrine
