// Confidence intervals of means of correlated values, such as the scores of neighboring tokens.
//
// Splits the values, in order, into about sqrt(number of values) blocks (batch means; Flegal and
// Jones, "Batch means and spectral variance estimators in Markov chain Monte Carlo", 2010). The
// variance of the blocks' sums includes correlations within blocks. While the sums of neighboring
// blocks are correlated (r > 1.645 / sqrt(blocks)), halves the number of blocks, but keeps at
// least eight blocks. The interval uses Student's t distribution with blocks - 1 degrees of
// freedom.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace vitrine {

struct RatioEstimate {
  double value = 0;
  std::optional<double> error;  // half of the 95 % interval; none below kMinBlockValues
  size_t blocks = 0;
};

inline constexpr size_t kMinBlockValues = 32;

// Estimates the sum of `numerators` divided by the sum of `denominators`. The two lists must have
// the same size. Without denominators, estimates the mean of `numerators`. The interval comes from
// the ratio's linearization. The interval is absent if the estimate is not finite.
RatioEstimate estimate_ratio(std::span<const double> numerators,
                             std::span<const double> denominators = {});

// Returns the 97.5 % quantile of Student's t distribution with `freedom` >= 7 degrees of freedom.
// Expands the quantile around the normal quantile, with an error of at most 0.1 %.
double student_quantile(double freedom);

}  // namespace vitrine
