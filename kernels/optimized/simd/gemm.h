// Tiles of matrix products. A tile of sums stays in registers over the entire depth.
#pragma once

#include <cstdint>
#include <limits>

namespace vitrine::optimized::simd {

struct GemmShape {
  int64_t rows;   // rows of the largest tile
  int64_t lanes;  // floats in a vector
};
GemmShape gemm_shape();

inline constexpr int64_t kGemmMaxRows = 8;
inline constexpr int64_t kGemmMaxVectors = 3;  // vectors of columns in a tile
inline constexpr int64_t kGemmMaxLanes = 64;   // limit for all instruction sets, for stack buffers

inline constexpr int64_t kAllColumns = INT64_MAX;

// A tile of a matrix product, with 1 to gemm_shape().rows rows and 1 to 3 vectors of columns.
// multiply_tile() sets sums[r * sums_stride + c] to an initial sum plus the dot product of row r of
// the left matrix and column c of the right matrix. Element (r, d) of the left matrix is left[r *
// left_stride + d * left_step]. Element (d, v * lanes + i) of the right matrix is right[d *
// right_stride + v * vector_stride + i].
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
  const float* start;  // initial sum of each row; null means zero
  int64_t left_step = 1;
  // The right side is prefetched this many floats ahead. 0 means no prefetching.
  int64_t right_ahead = 0;
  int64_t vector_stride = 0;  // 0 means lanes: the vectors of a row are contiguous
  // Number of columns that are written to `sums`. The right side is always read in full vectors.
  int64_t columns = kAllColumns;
  const float* bias = nullptr;  // initial sum of each column, if `start` is null; null means zero
};
void multiply_tile(const GemmTile& tile);

// A tile of a convolution over channels-last images, for output pixels r < rows and output channels
// c < columns. multiply_taps() sets out[r * out_stride + c] to bias[c] plus the sum of
// inputs[r][offsets[t] + k] * weights[(t * depth + k) * width + c] over all taps t and all k <
// depth. The result is clamped to [min, max]. `width` is `columns`, rounded up to one, two or three
// full vectors.
struct TapTile {
  const float* inputs[kGemmMaxRows];  // the first shape.rows pointers must be valid
  int64_t rows;                       // 1 to shape.rows
  const int64_t* offsets;
  int64_t taps;
  int64_t depth;
  const float* weights;
  const float* bias;  // null means zero
  float* out;
  int64_t out_stride;
  int64_t columns;
  // Unless null, table[t * kGemmMaxRows + r] replaces inputs[r] + offsets[t].
  const float* const* table = nullptr;
  float min = -std::numeric_limits<float>::infinity();
  float max = std::numeric_limits<float>::infinity();
};
void multiply_taps(const TapTile& tile);

// Sets out[r] to the dot product of left row r and `vector` for r < rows. left(r, d) is left[r *
// left_stride + d].
void multiply_vector(const float* left, int64_t left_stride, int64_t rows, const float* vector,
                     int64_t depth, float* out);

}  // namespace vitrine::optimized::simd
