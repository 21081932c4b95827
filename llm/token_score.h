// Computes probabilities of tokens from logits. Sums are in double. Logarithms are natural (nats).
#pragma once

#include <span>

#include "vitrine/tokenizer.h"

namespace vitrine {

// The logits at a position. log_sum is ln(sum of e^logit). A token's log probability is its logit
// minus log_sum.
struct ScoredLogits {
  std::span<const float> logits;
  double log_sum = 0;
  TokenId top = 0;  // highest logit; ties: the lower id wins

  // Throws GenerationError if a logit is NaN or plus infinity, or if all are minus infinity.
  explicit ScoredLogits(std::span<const float> from);
  // Returns -ln of the probability of an id below logits.size().
  double nats(TokenId id) const { return log_sum - logits[static_cast<size_t>(id)]; }
};

// Returns the Kullback-Leibler divergence of B from A: the sum of p * ln(p / q) over all ids, where
// p and q are the id's probabilities in `a` and `b`. `a` and `b` must have equal numbers of logits.
// Returns infinity if `b` has a logit of minus infinity for an id with a positive p.
double kl_divergence(const ScoredLogits& a, const ScoredLogits& b);

}  // namespace vitrine
