// The matrix products of attention for many queries: keys by queries, and weights by values. The
// scores of all queries for one key are contiguous.
#pragma once

#include <cstdint>

#include "kernels/optimized/simd/attention.h"

namespace vitrine::optimized {

// scores[n * rows + r] is the dot product of key n and query r. Element d of query r is queries[d *
// rows + r]. `rows` is the number of queries, a multiple of attention_lanes(). Keys must be Float.
void multiply_keys_by_queries(const simd::CacheRows& keys, const float* queries, int64_t rows,
                              float* scores);

// Multiplies row r of `sums` by factors[r], and adds weights[n * rows + r] * value n for every n.
// `sums` has at most `rows` rows. Values must be Float, and sums.stride floats of each value must
// be readable.
void add_values_by_weights(const simd::CacheRows& values, const float* weights, int64_t rows,
                           const float* factors, const simd::FloatRows& sums);

}  // namespace vitrine::optimized
