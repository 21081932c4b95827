// Computes probabilities of tokens from logits. Sums are in double; logarithms are natural (nats).
#pragma once

#include <span>

#include "vitrine/tokenizer.h"

namespace vitrine {

// The logits at a position, and log_sum, the ln of the sum of e^logit. The ln of a token's
// probability is logit - log_sum.
struct ScoredLogits {
  std::span<const float> logits;
  double log_sum = 0;
  TokenId top = 0;  // id with the highest logit; ties: the lower id wins

  // Subtracts the largest logit before it computes powers, to avoid overflow. Throws
  // GenerationError if a logit is NaN or plus infinity, or if all are minus infinity.
  explicit ScoredLogits(std::span<const float> from);
  // Returns -ln of the probability of an id. The id must be below logits.size().
  double nats(TokenId id) const { return log_sum - logits[static_cast<size_t>(id)]; }
};

// Returns the Kullback-Leibler divergence of B from A, the sum of a * ln(a / b) over all ids. Both
// must have the same number of logits. Infinite if B excludes an id (its logit is minus infinity)
// that A does not exclude.
double kl_divergence(const ScoredLogits& a, const ScoredLogits& b);

}  // namespace vitrine
