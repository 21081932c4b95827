// From logits to a token.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vitrine/text_generator.h"

namespace vitrine {

class Sampler {
 public:
  // GenerationError if an option is out of its range.
  explicit Sampler(const SamplerOptions& options);

  // GenerationError if a logit is not a number, or all are minus infinity.
  TokenId sample(std::span<const float> logits);

  // Of the random numbers.
  uint64_t state() const { return state_; }
  void set_state(uint64_t state) { state_ = state; }

 private:
  struct Candidate {
    float weight;  // its probability in parts of the greatest one
    TokenId id;
  };

  struct Place {
    TokenId id;
    double sum;  // of the weights up to it, from the greatest one
  };

  void compute_weights(std::span<const float> logits, float highest);
  void keep_top_k();
  // Sorts only the weights next to the limit: it adds up the others by buckets.
  TokenId draw_of_top_p();
  Place first_beyond(double limit);
  // Uniform in [0, 1): xorshift64*, its upper 24 bits, as ExecuTorch's sampler.
  float coin();

  SamplerOptions options_;
  uint64_t state_;
  std::vector<Candidate> candidates_;
  std::vector<double> buckets_;
  std::vector<Candidate> sorted_;
};

}  // namespace vitrine
