// Probabilities of tokens from logits. Sums are in double; logarithms are natural (nats).
#pragma once

#include <span>

#include "vitrine/tokenizer.h"

namespace vitrine {

// Logits with ln of the sum of e^logit, so that ln of a probability is logit - log_sum.
struct ScoredLogits {
  std::span<const float> logits;
  double log_sum = 0;
  TokenId top = 0;  // id with the highest logit; ties: the lower id wins

  // Subtracts the largest logit before it computes powers, so that nothing overflows. Throws
  // GenerationError if a logit is NaN or plus infinity, or if all are minus infinity.
  explicit ScoredLogits(std::span<const float> from);
  // -ln of the probability of an id, which must be below logits.size().
  double nats(TokenId id) const { return log_sum - logits[static_cast<size_t>(id)]; }
};

// Returns the Kullback-Leibler divergence of B from A, the sum of a * ln(a / b) over all ids. Both
// must have the same number of logits. Infinite if B excludes an id (a logit of minus infinity)
// that A does not.
double kl_divergence(const ScoredLogits& a, const ScoredLogits& b);

}  // namespace vitrine
