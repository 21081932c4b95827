#include "llm/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace vitrine {
namespace {

uint64_t seed_of(const SamplerOptions& options) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const uint64_t seed = options.seed.value_or(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()));
  constexpr uint64_t kForZero = 0x9E3779B97F4A7C15;  // of zero the generator makes zeros
  return seed == 0 ? kForZero : seed;
}

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), state_(seed_of(options)) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    throw GenerationError(fmt::format("the temperature is {}, not 0 or more", options.temperature));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw GenerationError(fmt::format("top-p is {}, not above 0 and at most 1", options.top_p));
  }
}

TokenId Sampler::sample(std::span<const float> logits) {
  const auto best = std::ranges::max_element(logits);
  const bool are_numbers =
      std::ranges::none_of(logits, [](float logit) { return std::isnan(logit); });
  if (logits.empty() || !are_numbers || std::isinf(*best)) {
    throw GenerationError("the model's logits are not numbers that can be sampled");
  }
  if (options_.temperature == 0 || logits.size() == 1) {
    return static_cast<TokenId>(best - logits.begin());
  }
  compute_probabilities(logits);
  if (options_.top_k > 0) {
    keep_top_k();
  } else if (options_.top_p < 1) {
    keep_top_p();
  }
  const float sum = std::accumulate(candidates_.begin(), candidates_.end(), 0.0F,
                                    [](float s, const Candidate& c) { return s + c.probability; });
  const float wanted = coin() * sum;
  float reached = 0;
  for (const Candidate& candidate : candidates_) {
    reached += candidate.probability;
    if (wanted < reached) return candidate.id;
  }
  return candidates_.back().id;  // rounding
}

void Sampler::compute_probabilities(std::span<const float> logits) {
  const float highest = *std::ranges::max_element(logits);
  candidates_.resize(logits.size());
  float sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    const float weight = std::exp((logits[i] - highest) / options_.temperature);
    candidates_[i] = {weight, static_cast<TokenId>(i)};
    sum += weight;
  }
  for (Candidate& candidate : candidates_) candidate.probability /= sum;
}

void Sampler::keep_top_k() {
  const size_t count = std::min(options_.top_k, candidates_.size());
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(candidates_, end, std::ranges::greater{}, &Candidate::probability);
  candidates_.resize(count);
}

void Sampler::keep_top_p() {
  // Less probable ones cannot be among them: it spares most of the sort.
  const float least = (1 - options_.top_p) / static_cast<float>(candidates_.size() - 1);
  std::erase_if(candidates_, [least](const Candidate& c) { return c.probability < least; });
  std::ranges::stable_sort(candidates_, std::ranges::greater{}, &Candidate::probability);
  float sum = 0;
  size_t count = 0;
  while (count < candidates_.size() && sum <= options_.top_p)
    sum += candidates_[count++].probability;
  candidates_.resize(count);
}

float Sampler::coin() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  const uint64_t bits = state_ * 0x2545F4914F6CDD1D;
  return static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
}

}  // namespace vitrine
