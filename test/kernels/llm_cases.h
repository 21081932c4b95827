// Makes random calls to operators of language models: attention over a cache, and quantization per
// token.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "test/kernels/kernel_comparison.h"

namespace vitrine::test {

struct AttentionShape {
  int32_t batches;
  int32_t tokens;
  int32_t length;
  int32_t key_heads;
  int32_t group;
  int32_t width;

  int64_t work() const { return int64_t{batches} * tokens * length * key_heads * group * width; }
  Sizes query() const { return {batches, tokens, key_heads * group, width}; }
  Sizes cache(int32_t of_tokens) const { return {batches, of_tokens, key_heads, width}; }
};

// Maximum number of multiplications in a case. It limits the time of the reference kernel.
inline constexpr int64_t kMaxAttentionWork = 1'500'000;

// Returns a random shape, with one or more tokens and a cache of one or more blocks. The width of a
// head may be smaller than a vector, or not a multiple of the vector length.
inline AttentionShape random_attention(Random& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return static_cast<int32_t>(random.integer(low, high));
  };
  static constexpr int32_t kWidths[] = {1, 3, 8, 16, 20, 33, 64, 80, 128};
  AttentionShape shape{};
  shape.batches = random.chance(0.7) ? 1 : pick(2, 3);
  shape.tokens = random.chance(0.5) ? 1 : random.chance(0.1) ? pick(60, 150) : pick(2, 20);
  shape.length = shape.tokens + (random.chance(0.4) ? pick(0, 1200 / shape.tokens) : pick(0, 40));
  shape.key_heads = pick(1, 3);
  shape.group = random.chance(0.1) ? pick(6, 70) : pick(1, 5);
  shape.width = kWidths[pick(0, 8)];
  // If the case needs too many multiplications, reduces the number of batches, the number of heads
  // and the width. Keeps the lengths of the prompt and the cache.
  int32_t* const others[] = {&shape.batches, &shape.key_heads, &shape.group, &shape.width};
  for (int32_t* const size : others) {
    while (shape.work() > kMaxAttentionWork && *size > 1) *size = (*size + 1) / 2;
  }
  return shape;
}

// Sets some elements to minus infinity, and sometimes a full row.
inline void mask_out(Comparison& c, const Comparison::Pair& mask) {
  const int64_t columns = mask.plain->size(1);
  for (int64_t row = 0; row < mask.plain->size(0); ++row) {
    const double share = c.random.chance(0.05) ? 1 : c.random.real(0, 1.05);
    for (int64_t i = 0; i < columns; ++i) {
      if (!c.random.chance(std::min(share, 1.0))) continue;
      mask.plain->mutable_data<float>()[row * columns + i] =
          -std::numeric_limits<float>::infinity();
      mask.fast->mutable_data<float>()[row * columns + i] = -std::numeric_limits<float>::infinity();
    }
  }
}

// Bound for the results of attention, which are sums of up to about 1200 terms.
inline constexpr Bound kAttentionBound{1, 2e-5};

inline ScalarType random_attention_dtype(Random& random) {
  return random.chance(0.5)   ? ScalarType::kFloat
         : random.chance(0.5) ? ScalarType::kHalf
                              : ScalarType::kBFloat16;
}

inline void custom_sdpa(Comparison& c, const std::string& name) {
  const AttentionShape shape = random_attention(c.random);
  const ScalarType dtype = random_attention_dtype(c.random);
  const auto query = c.tensor(dtype, shape.query(), {}, Values::kUnit);
  const auto key = c.tensor(dtype, shape.cache(shape.length), {}, Values::kUnit);
  const auto value = c.tensor(dtype, shape.cache(shape.length), {}, Values::kUnit);
  const EValue start(c.random.integer(0, shape.length - shape.tokens));
  const EValue scale(c.random.chance(0.5) ? EValue() : EValue(c.random.real(0.05, 1)));
  const auto out = c.out(dtype, shape.query());
  if (c.random.chance(0.3)) {
    const auto mask = c.tensor(ScalarType::kFloat, {shape.tokens, shape.length}, {}, Values::kUnit);
    mask_out(c, mask);
    return c.run(name, kAttentionBound, query, key, value, start, mask, EValue(0.0), EValue(false),
                 scale, out);
  }
  c.run(name, kAttentionBound, query, key, value, start, EValue(), EValue(0.0),
        EValue(c.random.chance(0.8)), scale, out);
}

inline void sdpa_with_kv_cache(Comparison& c, const std::string& name) {
  const AttentionShape shape = random_attention(c.random);
  const ScalarType dtype = random_attention_dtype(c.random);
  const auto query = c.tensor(dtype, shape.query(), {}, Values::kUnit);
  const auto key = c.tensor(dtype, shape.cache(shape.tokens), {}, Values::kUnit);
  const auto value = c.tensor(dtype, shape.cache(shape.tokens), {}, Values::kUnit);
  const auto key_cache = c.out(dtype, shape.cache(shape.length));
  const auto value_cache = c.out(dtype, shape.cache(shape.length));
  for (const auto& cache : {key_cache, value_cache}) {
    const auto content = c.tensor(dtype, shape.cache(shape.length), {}, Values::kUnit);
    std::memcpy(cache.plain->mutable_raw_data(), content.plain->raw_data(), cache.plain->nbytes());
    std::memcpy(cache.fast->mutable_raw_data(), content.plain->raw_data(), cache.fast->nbytes());
  }
  const EValue start(c.random.integer(0, shape.length - shape.tokens));
  c.run(name, kAttentionBound, query, key, value, key_cache, value_cache, start,
        EValue(int64_t{shape.tokens}), EValue(), EValue(0.0), EValue(true), EValue(),
        c.out(dtype, shape.query()));
}

inline void custom_quantized_sdpa(Comparison& c, const std::string& name) {
  const AttentionShape shape = random_attention(c.random);
  const bool heads_first = c.random.chance(0.5);
  const auto ordered = [&](Sizes sizes) {
    if (heads_first) std::swap(sizes[1], sizes[2]);
    return sizes;
  };
  const auto bytes = [&](const Sizes& sizes) {
    const auto pair = c.tensor(ScalarType::kChar, ordered(sizes));
    Comparison::fill<int8_t>(pair, [&] { return c.random.integer(-128, 127); });
    return pair;
  };
  const auto scales = [&](Sizes sizes) {
    sizes.back() = 1;
    const auto pair = c.tensor(ScalarType::kFloat, ordered(sizes));
    Comparison::fill<float>(pair, [&] { return c.random.real(0.002, 0.008); });
    return pair;
  };
  const auto zero_points = [&](Sizes sizes) {
    sizes.back() = 1;
    return bytes(sizes);
  };
  const Sizes queries = shape.query();
  const Sizes cache = shape.cache(shape.length);
  const auto query = bytes(queries);
  const auto key = bytes(cache);
  const auto value = bytes(cache);
  const EValue start(c.random.integer(0, shape.length - shape.tokens));
  c.run(name, kAttentionBound, query, key, value, start, EValue(), EValue(0.0),
        EValue(c.random.chance(0.8)), EValue(), zero_points(queries), scales(queries),
        zero_points(cache), scales(cache), zero_points(cache), scales(cache), EValue(heads_first),
        c.out(ScalarType::kFloat, ordered(queries)));
}

// --- Quantization per token ---

inline Sizes random_tokens(Random& random) {
  Sizes sizes = random_sizes(random, random.integer(1, 4), 7);
  sizes.back() =
      static_cast<int32_t>(random.chance(0.3) ? random.integer(1, 3000) : random.integer(1, 70));
  return sizes;
}

inline void choose_per_token(Comparison& c, const std::string& name) {
  Sizes sizes = random_tokens(c.random);
  const auto input = c.tensor(random_float(c.random), sizes, {},
                              c.random.chance(0.5) ? Values::kAny : Values::kUnit);
  sizes.back() = 1;
  c.run(name, {}, input, EValue(static_cast<int64_t>(ScalarType::kChar)),
        c.out(ScalarType::kDouble, sizes), c.out(ScalarType::kLong, sizes));
}

inline void quantize_per_token(Comparison& c, const std::string& name) {
  const Sizes sizes = random_tokens(c.random);
  Sizes tokens = sizes;
  tokens.back() = 1;
  const ScalarType bytes = c.random.chance(0.8) ? ScalarType::kChar : ScalarType::kByte;
  const ScalarType real = c.random.chance(0.85) ? ScalarType::kFloat : ScalarType::kHalf;
  const EValue low(int64_t{bytes == ScalarType::kChar ? -128 : 0});
  const EValue high(int64_t{bytes == ScalarType::kChar ? 127 : 255});
  const EValue dtype(static_cast<int64_t>(bytes));
  const auto scales = c.tensor(ScalarType::kDouble, tokens, {}, Values::kPositive);
  const auto zero_points = c.tensor(ScalarType::kLong, tokens, {}, Values::kUnit);
  for (int64_t i = 0; i < zero_points.plain->numel(); ++i) {
    const int64_t value = c.random.integer(-128, 200);
    zero_points.plain->mutable_data<int64_t>()[i] = value;
    zero_points.fast->mutable_data<int64_t>()[i] = value;
    if (!c.random.chance(0.3)) continue;  // with this scale, many values are ties
    scales.plain->mutable_data<double>()[i] = 0.5;
    scales.fast->mutable_data<double>()[i] = 0.5;
  }
  const bool back = name.find("dequantize") != std::string::npos;
  const auto from = c.tensor(back ? bytes : real, sizes);
  if (!back && real == ScalarType::kFloat && c.random.chance(0.5)) {
    Comparison::fill<float>(
        from, [&] { return 0.25 * static_cast<double>(c.random.integer(-200, 200)); });
  }
  const auto out = c.out(back ? real : bytes, sizes);
  if (back) {
    return c.run(name, {}, from, scales, zero_points, low, high, dtype,
                 EValue(static_cast<int64_t>(real)), out);
  }
  c.run(name, {}, from, scales, zero_points, low, high, dtype, out);
}

}  // namespace vitrine::test
