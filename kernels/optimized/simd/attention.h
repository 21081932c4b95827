// Attention for one block of keys and values of one head: the products with a few query rows, and
// the softmax.
#pragma once

#include <cstdint>

#include "vitrine/scalar_type.h"

namespace vitrine::optimized::simd {

// `count` keys or values. Each key or value is a vector of `width` elements. The distance between
// two vectors is `stride` elements.
struct CacheRows {
  ScalarType dtype;  // Float, Half, BFloat16 or Char
  const void* data;
  int64_t stride;
  int64_t count;
  int64_t width;
  // For Char, real = (element - zero point) * scale. The stride between the parameters of two
  // vectors is `parameter_stride`. Products subtract zero points, but the caller must apply the
  // scales.
  const float* scales;
  const int8_t* zero_points;
  int64_t parameter_stride;
};

// Rows of floats. `stride` is a multiple of attention_lanes().
struct FloatRows {
  float* data;
  int64_t stride;
  int64_t count;
};

// Number of floats in a vector. Rows of queries and sums are padded to a multiple of this number.
// The padding of queries must be zero.
int64_t attention_lanes();

// Sets scores(r, n) to the dot product of query r and key n.
void multiply_keys(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores);

// Sets sums(r) = sums(r) * factors[r] + sum over n of weights(r, n) * value n. Also writes the
// padding of a row of sums.
void add_values(const FloatRows& weights, const CacheRows& values, const float* factors,
                const FloatRows& sums);

// `largest` is the largest score so far. `total` is the sum of exp(score - largest) so far.
struct RunningSoftmax {
  float largest;
  float total;
};
// Adds the mask (unless null) to the first `count` scores and replaces these scores with the
// weights exp(score - largest). Zeroes the scores from `count` to padded_count - 1. Updates
// `softmax` and returns the factor by which the caller must multiply earlier sums.
float weigh(float* scores, const float* mask, int64_t count, int64_t padded_count,
            RunningSoftmax& softmax);

// Like weigh(), but for `rows` queries, a multiple of attention_lanes(). The score of query r and
// key n is scores[n * rows + r]. Query r attends to the first visible[r] of `count` keys. Other
// weights are zero. Sets factors[r] to the factor by which the caller must multiply earlier sums of
// query r.
void weigh_columns(float* scores, int64_t rows, int64_t count, const float* visible,
                   RunningSoftmax* softmax, float* factors);

}  // namespace vitrine::optimized::simd
