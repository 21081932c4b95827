// Sampler picks a token from logits.
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

  // Returns the picked token. Throws GenerationError if `logits` is empty, if a logit is NaN or
  // plus infinity, or if all logits are minus infinity.
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
    double sum;  // sum of the weights from the largest down to that of `id`
  };

  void compute_weights(std::span<const float> logits, float max_logit);
  void keep_top_k();
  // Samples with top-p. Sorts only two buckets: the one that contains the limit of top-p, and the
  // one that contains the picked token.
  TokenId sample_top_p();
  // Adds up weights in descending order. Returns the first candidate at which the sum exceeds
  // `limit`. Sorts only the bucket that contains this candidate.
  CumulativeWeight first_exceeding(double limit);
  // Returns a random number in [0, 1): the upper 24 bits of xorshift64*, like ExecuTorch's sampler.
  float next_random();

  SamplerOptions options_;
  uint64_t state_;
  std::vector<Candidate> candidates_;
  std::vector<double> buckets_;
  std::vector<Candidate> sorted_;
};

}  // namespace vitrine
