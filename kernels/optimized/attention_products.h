// Blocks of attention of many queries as matrix products: of keys and queries, and of weights and
// values. Scores lie by key, so that the queries of a key are neighbours.
#pragma once

#include <cstdint>

#include "kernels/optimized/simd/attention.h"

namespace vitrine::optimized {

// scores[n * rows + r] = key n . query r, for `rows` queries (a multiple of attention_lanes()), of
// which queries[d * rows + r] is element d. Keys are floats.
void multiply_keys_by_queries(const simd::CacheRows& keys, const float* queries, int64_t rows,
                              float* scores);

// sums(r) = sums(r) * factors[r] + sum over n of weights[n * rows + r] * value n, for r <
// sums.count, not more than `rows`. Values are floats, whose rows can be read up to sums.stride.
void add_values_by_weights(const simd::CacheRows& values, const float* weights, int64_t rows,
                           const float* factors, const simd::FloatRows& sums);

}  // namespace vitrine::optimized
