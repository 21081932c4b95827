#include "kernels/optimized/attention_products.h"

#include <algorithm>

#include "kernels/optimized/simd/gemm.h"

namespace vitrine::optimized {

namespace {

// Divides `columns`, a multiple of `lanes`, into tiles. Calls body(first column, number of SIMD
// vectors) for each tile.
template <class Body>
void for_each_tile(int64_t columns, int64_t lanes, Body&& body) {
  const int64_t vectors = columns / lanes;
  const int64_t tiles = (vectors + simd::kGemmMaxVectors - 1) / simd::kGemmMaxVectors;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t first = vectors * t / tiles;
    body(first * lanes, vectors * (t + 1) / tiles - first);
  }
}

}  // namespace

void multiply_keys_by_queries(const simd::CacheRows& keys, const float* queries, int64_t rows,
                              float* scores) {
  const simd::GemmShape shape = simd::gemm_shape();
  simd::GemmTile tile{};
  tile.left_stride = keys.stride;
  tile.right_stride = rows;
  tile.depth = keys.width;
  tile.sums_stride = rows;
  for (int64_t n = 0; n < keys.count; n += shape.rows) {
    tile.left = static_cast<const float*>(keys.data) + n * keys.stride;
    tile.rows = std::min(shape.rows, keys.count - n);
    for_each_tile(rows, shape.lanes, [&](int64_t first, int64_t vectors) {
      tile.right = queries + first;
      tile.vectors = vectors;
      tile.sums = scores + n * rows + first;
      simd::multiply_tile(tile);
    });
  }
}

void add_values_by_weights(const simd::CacheRows& values, const float* weights, int64_t rows,
                           const float* factors, const simd::FloatRows& sums) {
  alignas(64) float added[simd::kGemmMaxRows * simd::kGemmMaxVectors * simd::kGemmMaxLanes];
  const simd::GemmShape shape = simd::gemm_shape();
  simd::GemmTile tile{};
  tile.left_stride = 1;
  tile.left_step = rows;
  tile.right_stride = values.stride;
  tile.depth = values.count;
  tile.sums = added;
  for (int64_t r = 0; r < sums.count; r += shape.rows) {
    tile.left = weights + r;
    tile.rows = std::min(shape.rows, sums.count - r);
    for_each_tile(sums.stride, shape.lanes, [&](int64_t first, int64_t vectors) {
      tile.right = static_cast<const float*>(values.data) + first;
      tile.vectors = vectors;
      tile.sums_stride = vectors * shape.lanes;
      simd::multiply_tile(tile);
      for (int64_t i = 0; i < tile.rows; ++i) {
        const float factor = factors[r + i];
        const float* const from = added + i * tile.sums_stride;
        float* const to = sums.data + (r + i) * sums.stride + first;
        for (int64_t d = 0; d < tile.sums_stride; ++d) to[d] = to[d] * factor + from[d];
      }
    });
  }
}

}  // namespace vitrine::optimized
