#include "llm/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
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

// The greatest; NaN if one is NaN.
float highest_of(std::span<const float> logits) {
  constexpr size_t kLanes = 4;  // what every instruction set has
  using Floats [[gnu::vector_size(kLanes * sizeof(float))]] = float;
  using Flags [[gnu::vector_size(kLanes * sizeof(int32_t))]] = int32_t;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats highest = Floats{} + kLowest;
  Flags not_numbers{};
  const auto take = [&](const Floats& some) {
    highest = some > highest ? some : highest;
    not_numbers |= some != some;
  };
  size_t i = 0;
  Floats some;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    std::memcpy(&some, &logits[i], sizeof some);
    take(some);
  }
  some = Floats{} + kLowest;
  for (size_t lane = 0; i < logits.size(); ++i, ++lane) some[lane] = logits[i];
  take(some);
  float result = kLowest;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (not_numbers[lane] != 0) return std::numeric_limits<float>::quiet_NaN();
    result = std::max(result, highest[lane]);
  }
  return result;
}

// Of the most probable token, below which a weight adds nothing to a sum of floats: 2^-25.
constexpr float kLeastLogWeight = -17.4F;
constexpr float kLeastWeight = 0x1p-26F;

// Weights by their upper bits: those of one bucket differ by less than a hundredth.
uint32_t upper_bits(float weight) { return std::bit_cast<uint32_t>(weight) >> 16; }
constexpr uint32_t kLeastBits = std::bit_cast<uint32_t>(kLeastWeight) >> 16;
constexpr size_t kBuckets = (std::bit_cast<uint32_t>(1.0F) >> 16) - kLeastBits + 1;

// Of equal ones the first.
constexpr auto is_more_probable = [](const auto& a, const auto& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
};

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
  const float highest = highest_of(logits);
  if (!std::isfinite(highest)) {
    throw GenerationError("the model's logits are not numbers that can be sampled");
  }
  if (options_.temperature == 0 || logits.size() == 1) {
    return static_cast<TokenId>(std::ranges::find(logits, highest) - logits.begin());
  }
  compute_weights(logits, highest);
  if (options_.top_k > 0) {
    keep_top_k();
  } else if (options_.top_p < 1) {
    return draw_of_top_p();
  }
  const float sum = std::accumulate(candidates_.begin(), candidates_.end(), 0.0F,
                                    [](float s, const Candidate& c) { return s + c.weight; });
  const float wanted = coin() * sum;
  float reached = 0;
  for (const Candidate& candidate : candidates_) {
    reached += candidate.weight;
    if (wanted < reached) return candidate.id;
  }
  return candidates_.back().id;  // rounding
}

void Sampler::compute_weights(std::span<const float> logits, float highest) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const float log_weight = (logits[i] - highest) / options_.temperature;
    if (log_weight < kLeastLogWeight) continue;
    candidates_.push_back({std::exp(log_weight), static_cast<TokenId>(i)});
  }
}

void Sampler::keep_top_k() {
  const size_t count = std::min(options_.top_k, candidates_.size());
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(candidates_, end, is_more_probable);
  candidates_.resize(count);
}

TokenId Sampler::draw_of_top_p() {
  buckets_.assign(kBuckets, 0);
  for (const Candidate& c : candidates_) buckets_[upper_bits(c.weight) - kLeastBits] += c.weight;
  const double sum = std::accumulate(buckets_.begin(), buckets_.end(), 0.0);
  const double kept = first_beyond(options_.top_p * sum).sum;
  return first_beyond(coin() * kept).id;
}

Sampler::Place Sampler::first_beyond(double limit) {
  size_t bucket = kBuckets - 1;
  double sum = 0;
  while (bucket > 0 && sum + buckets_[bucket] <= limit) sum += buckets_[bucket--];
  sorted_.clear();
  std::ranges::copy_if(candidates_, std::back_inserter(sorted_), [&](const Candidate& c) {
    return upper_bits(c.weight) - kLeastBits == bucket;
  });
  std::ranges::sort(sorted_, is_more_probable);
  for (const Candidate& candidate : sorted_) {
    sum += candidate.weight;
    if (sum > limit) return {candidate.id, sum};
  }
  return {sorted_.empty() ? candidates_.back().id : sorted_.back().id, sum};  // rounding
}

float Sampler::coin() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  const uint64_t bits = state_ * 0x2545F4914F6CDD1D;
  return static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
}

}  // namespace vitrine
