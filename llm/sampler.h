#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vitrine/text_generator.h"

namespace vitrine {

class Sampler {
 public:
  // Checks the options. Throws GenerationError if an option is out of range.
  explicit Sampler(const SamplerOptions& options);

  // Picks a token. Throws GenerationError if `logits` is empty, a logit is NaN or plus infinity, or
  // all logits are minus infinity.
  TokenId sample(std::span<const float> logits);

  // State of the random number generator.
  uint64_t state() const { return state_; }
  void set_state(uint64_t state) { state_ = state; }

 private:
  struct Candidate {
    float weight;  // probability, divided by the largest probability
    TokenId id;
  };

  struct CumulativeWeight {
    TokenId id;
    double sum;  // sum of the weights from the largest down to the weight of `id`
  };

  void compute_weights(std::span<const float> logits, float max_logit);
  void keep_top_k();
  // Samples with top-p. Sorts only the buckets of the top-p limit and of the picked token.
  TokenId sample_top_p();
  // Adds up weights in descending order until the sum exceeds `limit`. Sorts only the bucket of the
  // returned candidate.
  CumulativeWeight first_exceeding(double limit);
  // Returns the upper 24 bits of xorshift64* as a number in [0, 1), like ExecuTorch's sampler.
  float next_random();

  SamplerOptions options_;
  uint64_t state_;
  std::vector<Candidate> candidates_;
  std::vector<double> buckets_;
  std::vector<Candidate> sorted_;
};

}  // namespace vitrine
