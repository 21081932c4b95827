// The innermost loop of matrix products: a tile of sums that stays in registers over the whole
// depth.
#pragma once

#include <cstdint>

namespace vitrine::optimized::simd {

// What the instruction set of this machine allows.
struct GemmShape {
  int64_t rows;   // of the largest tile
  int64_t lanes;  // floats in a vector
};
GemmShape gemm_shape();

inline constexpr int64_t kGemmMaxRows = 8;
inline constexpr int64_t kGemmMaxVectors = 3;  // of columns
inline constexpr int64_t kGemmMaxLanes = 64;   // of any instruction set; a stack buffer's bound

// sums[r * sums_stride + c] = left row r . right column c, for `rows` rows (1 to shape.rows) and
// `vectors` * lanes columns (1 to 3 vectors). left(r, d) is left[r * left_stride + d * left_step],
// right(d, c) is right[d * right_stride + c].
struct GemmTile {
  const float* left;
  int64_t left_stride;
  int64_t rows;
  const float* right;
  int64_t right_stride;
  int64_t vectors;
  int64_t depth;
  float* sums;
  int64_t sums_stride;
  const float* start;  // initial sums of each row; null: zero
  int64_t left_step = 1;
};
void multiply_tile(const GemmTile& tile);

// out[r] = left row r . vector for r < rows; left(r, d) is left[r * left_stride + d].
void multiply_vector(const float* left, int64_t left_stride, int64_t rows, const float* vector,
                     int64_t depth, float* out);

}  // namespace vitrine::optimized::simd
