// Blocks of attention: products of a few query rows with the keys and values of one head, which are
// read as they lie in the cache, and the softmax that is taken block by block.
#pragma once

#include <cstdint>

#include "vitrine/scalar_type.h"

namespace vitrine::optimized::simd {

// Vectors of keys or values, `stride` elements apart.
struct CacheRows {
  ScalarType dtype;  // Float, Half, BFloat16 or Char
  const void* data;
  int64_t stride;
  int64_t count;
  int64_t width;
  // For Char: real = (element - zero point) * scale, with a pair every `parameter_stride` numbers.
  // Products subtract zero points; scales are left to the caller.
  const float* scales;
  const int8_t* zero_points;
  int64_t parameter_stride;
};

// Rows of floats; `stride` is a multiple of attention_lanes().
struct FloatRows {
  float* data;
  int64_t stride;
  int64_t count;
};

// Rows of queries and sums are padded to a multiple of this: queries with zeros.
int64_t attention_lanes();

// scores(r, n) = query r . key n
void multiply_keys(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores);

// sums(r) = sums(r) * factors[r] + sum over n of weights(r, n) * value n. What lies between the
// width and the stride of a row of sums is written too.
void add_values(const FloatRows& weights, const CacheRows& values, const float* factors,
                const FloatRows& sums);

// What was summed so far was divided by exp(largest); `total` is the sum of its weights.
struct RunningSoftmax {
  float largest;
  float total;
};
// Makes weights of the first `count` of scores, with those of the mask (or null) added, and zeros
// of the others up to `all`. Gives what sums so far are to be multiplied by.
float weigh(float* scores, const float* mask, int64_t count, int64_t all, RunningSoftmax& softmax);

// The same for columns of scores, one for each of `rows` queries (a multiple of attention_lanes()):
// that of query r begins at scores[r], and its numbers are `rows` apart. Of `count` keys it sees
// the first seen[r]; the others get weight zero. factors[r] is what sums so far are to be
// multiplied by.
void weigh_columns(float* scores, int64_t rows, int64_t count, const float* seen,
                   RunningSoftmax* softmax, float* factors);

}  // namespace vitrine::optimized::simd
