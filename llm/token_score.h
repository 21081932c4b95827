// Computes probabilities of tokens from logits. Sums are in double. Logarithms are natural (nats).
#pragma once

#include <span>

#include "vitrine/tokenizer.h"

namespace vitrine {

// The logits at a position. log_sum is ln(sum of e^logit). The log probability of a token is its
// logit minus log_sum.
struct ScoredLogits {
  std::span<const float> logits;
  double log_sum = 0;
  TokenId top = 0;  // id with the highest logit; ties: the lower id wins

  // Throws GenerationError if a logit is NaN or plus infinity, or if all are minus infinity.
  explicit ScoredLogits(std::span<const float> from);
  // Returns -ln of the probability of an id. The id must be below logits.size().
  double nats(TokenId id) const { return log_sum - logits[static_cast<size_t>(id)]; }
};

// Returns the Kullback-Leibler divergence of B from A: the sum of p * ln(p / q) over all ids, where
// p and q are the probabilities of the id in `a` and in `b`. Both must have the same number of
// logits. The result is infinite if an id has a logit of minus infinity in `b` and a positive
// probability in `a`.
double kl_divergence(const ScoredLogits& a, const ScoredLogits& b);

}  // namespace vitrine
