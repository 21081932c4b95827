#include "kernels/optimized/gemm.h"

#include <algorithm>

#include "kernels/optimized/parallel.h"
#include "kernels/optimized/simd/gemm.h"

namespace vitrine::optimized {

namespace {

// Rows of a task at least, so that a packed panel serves several tiles.
constexpr int64_t kMinBandRows = 64;
// A panel's size, unless one tile needs more, and its width: an odd number of tiles, so that its
// rows do not fall onto the same places of a cache.
constexpr int64_t kPanelBytes = 192 * 1024;
constexpr int64_t kMaxPanelTiles = 5;
constexpr int64_t kFloat = sizeof(float);

}  // namespace

int64_t gemm_lanes() { return simd::gemm_shape().lanes; }

// A panel of the right side spans the whole depth, so that sums live in registers only and each
// result is written once; it is read from the second-level cache. Where there is room it is several
// tiles wide: then rows of the operands and of the result are touched in longer pieces.
void gemm(KernelContext& context, int64_t rows, int64_t columns, int64_t depth,
          const GemmOperands& operands) {
  if (rows <= 0 || columns <= 0) return;
  const simd::GemmShape shape = simd::gemm_shape();
  const int64_t vectors = (columns + shape.lanes - 1) / shape.lanes;
  const int64_t tile_columns = simd::kGemmMaxVectors * shape.lanes;
  const int64_t workers = worker_count(context);

  int64_t panel_tiles = std::clamp<int64_t>(
      kPanelBytes / (tile_columns * std::max<int64_t>(depth, 1) * kFloat), 1, kMaxPanelTiles);
  // Threads need panels to share out.
  while (panel_tiles > 1 && columns / (panel_tiles * tile_columns) < 4 * (workers - 1)) {
    --panel_tiles;
  }
  const int64_t panel_vectors = panel_tiles * simd::kGemmMaxVectors;
  const int64_t panels = (vectors + panel_vectors - 1) / panel_vectors;
  // With few panels they share out the rows as well.
  const int64_t wanted = workers == 1 ? 1 : (4 * workers + panels - 1) / panels;
  const int64_t bands = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, rows / kMinBandRows));
  const int64_t row_tiles = (rows + shape.rows - 1) / shape.rows;

  // Packing does not pay for few rows.
  const GemmRows right_in_place =
      rows <= 2 * shape.rows ? operands.right_in_place() : GemmRows{nullptr, 0};
  const GemmOperands::InPlace result = operands.result_in_place();

  const int64_t panel_size = std::max<int64_t>(depth, 1) * panel_vectors * shape.lanes;
  const int64_t scratch_size = operands.wants_scratch() ? depth * shape.rows : 0;
  auto* const memory = static_cast<float*>(context.allocate_temp(
      static_cast<size_t>(workers * (panel_size + scratch_size)) * sizeof(float)));
  if (memory == nullptr) return;

  const auto work_on = [&](int64_t item, int64_t worker) {
    const int64_t first = vectors * (item / bands) / panels;
    const int64_t end_vector = vectors * (item / bands + 1) / panels;
    const int64_t band = item % bands;
    const int64_t column = first * shape.lanes;
    const int64_t width = (end_vector - first) * shape.lanes;
    const int64_t count = std::min(width, columns - column);

    const float* right = memory + worker * (panel_size + scratch_size);
    float* const scratch = memory + worker * (panel_size + scratch_size) + panel_size;
    simd::GemmTile tile{};
    tile.depth = depth;
    tile.right_stride = width;
    if (right_in_place.data != nullptr && count == width) {
      right = right_in_place.data + column;
      tile.right_stride = right_in_place.stride;
    } else {
      operands.pack_right(column, count, width, memory + worker * (panel_size + scratch_size));
    }
    alignas(64) float sums[simd::kGemmMaxRows * simd::kGemmMaxVectors * simd::kGemmMaxLanes];
    const int64_t tiles = (end_vector - first + simd::kGemmMaxVectors - 1) / simd::kGemmMaxVectors;
    const int64_t end_row = std::min(rows, row_tiles * (band + 1) / bands * shape.rows);
    for (int64_t row = row_tiles * band / bands * shape.rows; row < end_row; row += shape.rows) {
      tile.rows = std::min(shape.rows, end_row - row);
      const GemmRows left = operands.left_rows(row, tile.rows, scratch);
      tile.left = left.data;
      tile.left_stride = left.stride;
      for (int64_t t = 0; t < tiles; ++t) {
        const int64_t begin = (end_vector - first) * t / tiles;
        tile.vectors = (end_vector - first) * (t + 1) / tiles - begin;
        const int64_t offset = begin * shape.lanes;
        const int64_t tile_width = tile.vectors * shape.lanes;
        tile.right = right + offset;
        if (result.data != nullptr && offset + tile_width <= count) {
          tile.sums = result.data + row * result.stride + column + offset;
          tile.sums_stride = result.stride;
          tile.start = result.start == nullptr ? nullptr : result.start + row;
          simd::multiply_tile(tile);
          continue;
        }
        tile.sums = sums;
        tile.sums_stride = tile_width;
        tile.start = nullptr;
        simd::multiply_tile(tile);
        operands.store(row, tile.rows, column + offset, std::min(tile_width, count - offset), sums,
                       tile_width);
      }
    }
  };
  const double work = 2.0 * static_cast<double>(rows) * static_cast<double>(columns) *
                      static_cast<double>(depth + 1);
  parallel(context, panels * bands, static_cast<int64_t>(std::min(work, 1e18)), work_on);
}

}  // namespace vitrine::optimized
