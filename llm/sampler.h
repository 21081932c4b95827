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

 private:
  struct Candidate {
    float probability;
    TokenId id;
  };

  void compute_probabilities(std::span<const float> logits, float highest);
  void keep_top_k();
  void keep_top_p(size_t vocabulary);
  // Uniform in [0, 1): xorshift64*, its upper 24 bits, as ExecuTorch's sampler.
  float coin();

  SamplerOptions options_;
  uint64_t state_;
  std::vector<Candidate> candidates_;
};

}  // namespace vitrine
