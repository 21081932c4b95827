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
  constexpr uint64_t kSeedForZero = 0x9E3779B97F4A7C15;  // xorshift maps 0 to 0
  return seed == 0 ? kSeedForZero : seed;
}

// Returns NaN if any logit is NaN.
float max_of(std::span<const float> logits) {
  constexpr size_t kLanes = 4;  // every supported instruction set has vectors of 4 floats
  using Floats [[gnu::vector_size(kLanes * sizeof(float))]] = float;
  using Flags [[gnu::vector_size(kLanes * sizeof(int32_t))]] = int32_t;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats highest = Floats{} + kLowest;
  Flags is_nan{};
  const auto update = [&](const Floats& values) {
    highest = values > highest ? values : highest;
    is_nan |= values != values;
  };
  size_t i = 0;
  Floats values;
  for (; i + kLanes <= logits.size(); i += kLanes) {
    std::memcpy(&values, &logits[i], sizeof values);
    update(values);
  }
  values = Floats{} + kLowest;
  for (size_t lane = 0; i < logits.size(); ++i, ++lane) values[lane] = logits[i];
  update(values);
  float result = kLowest;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (is_nan[lane] != 0) return std::numeric_limits<float>::quiet_NaN();
    result = std::max(result, highest[lane]);
  }
  return result;
}

// Tokens with a smaller log weight are ignored. The largest weight is 1, and a weight below 2^-25
// does not change a float sum of 1.
constexpr float kMinLogWeight = -17.4F;
constexpr float kMinWeight = 0x1p-26F;

// Bucket of a weight. Weights in a bucket differ by less than 1 %.
uint32_t upper_bits(float weight) { return std::bit_cast<uint32_t>(weight) >> 16; }
constexpr uint32_t kMinBits = std::bit_cast<uint32_t>(kMinWeight) >> 16;
constexpr size_t kBuckets = (std::bit_cast<uint32_t>(1.0F) >> 16) - kMinBits + 1;

// Sorts by descending weight, then by ascending id.
constexpr auto is_more_probable = [](const auto& a, const auto& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.id < b.id;
};

}  // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), state_(seed_of(options)) {
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    throw GenerationError(
        fmt::format("temperature must be finite and at least 0, got {}", options.temperature));
  }
  if (!(options.top_p > 0 && options.top_p <= 1)) {
    throw GenerationError(
        fmt::format("top-p must be greater than 0 and at most 1, got {}", options.top_p));
  }
}

TokenId Sampler::sample(std::span<const float> logits) {
  const float max_logit = max_of(logits);
  if (!std::isfinite(max_logit)) {
    throw GenerationError("the model returned NaN or infinite logits: check its weights");
  }
  if (options_.temperature == 0 || logits.size() == 1) {
    return static_cast<TokenId>(std::ranges::find(logits, max_logit) - logits.begin());
  }
  compute_weights(logits, max_logit);
  if (options_.top_k > 0) {
    keep_top_k();
  } else if (options_.top_p < 1) {
    return sample_top_p();
  }
  const float sum = std::accumulate(candidates_.begin(), candidates_.end(), 0.0F,
                                    [](float s, const Candidate& c) { return s + c.weight; });
  const float target = next_random() * sum;
  float reached = 0;
  for (const Candidate& candidate : candidates_) {
    reached += candidate.weight;
    if (target < reached) return candidate.id;
  }
  return candidates_.back().id;  // rounding left `reached` below the target
}

void Sampler::compute_weights(std::span<const float> logits, float max_logit) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const float log_weight = (logits[i] - max_logit) / options_.temperature;
    if (log_weight < kMinLogWeight) continue;
    candidates_.push_back({std::exp(log_weight), static_cast<TokenId>(i)});
  }
}

void Sampler::keep_top_k() {
  const size_t count = std::min(options_.top_k, candidates_.size());
  const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(candidates_, end, is_more_probable);
  candidates_.resize(count);
}

TokenId Sampler::sample_top_p() {
  buckets_.assign(kBuckets, 0);
  for (const Candidate& c : candidates_) buckets_[upper_bits(c.weight) - kMinBits] += c.weight;
  const double sum = std::accumulate(buckets_.begin(), buckets_.end(), 0.0);
  const double kept = first_exceeding(options_.top_p * sum).sum;
  return first_exceeding(next_random() * kept).id;
}

Sampler::CumulativeWeight Sampler::first_exceeding(double limit) {
  size_t bucket = kBuckets - 1;
  double sum = 0;
  while (bucket > 0 && sum + buckets_[bucket] <= limit) sum += buckets_[bucket--];
  sorted_.clear();
  std::ranges::copy_if(candidates_, std::back_inserter(sorted_), [&](const Candidate& c) {
    return upper_bits(c.weight) - kMinBits == bucket;
  });
  std::ranges::sort(sorted_, is_more_probable);
  for (const Candidate& candidate : sorted_) {
    sum += candidate.weight;
    if (sum > limit) return {candidate.id, sum};
  }
  return {sorted_.empty() ? candidates_.back().id : sorted_.back().id,
          sum};  // rounding left `sum` below
}

float Sampler::next_random() {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  const uint64_t bits = state_ * 0x2545F4914F6CDD1D;
  return static_cast<float>(bits >> 40) / static_cast<float>(1 << 24);
}

}  // namespace vitrine
