#include "kernels/optimized/gemm.h"

#include <algorithm>

#include "kernels/optimized/simd/gemm.h"
#include "kernels/util/parallel.h"
#include "runtime/core/checked_math.h"

namespace vitrine::optimized {

namespace {

constexpr int64_t kMinBandRows = 32;
// Maximum size of a panel in bytes, and maximum width in tiles. A panel of one tile may have more
// bytes. The maximum width is odd, so that the rows of a panel do not share cache sets.
constexpr int64_t kPanelBytes = int64_t{192} * 1024;
constexpr int64_t kMaxPanelTiles = 5;
// With several work items per worker, faster cores can take more items.
constexpr int64_t kTasksPerWorker = 4;
constexpr int64_t kFloat = sizeof(float);

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Divides the columns of a product into panels of full vectors, and the rows into bands. A work
// item is one band of one panel.
struct Blocking {
  int64_t vectors;  // vectors in all columns
  int64_t panels;
  int64_t bands;
  int64_t group_bands;  // consecutive bands with the same panel
  int64_t row_tiles;
  int64_t panel_vectors;

  // Work items cover all panels of the first group of bands, then all panels of the second group,
  // and so on.
  int64_t panel(int64_t item) const { return item / group_bands % panels; }
  int64_t band(int64_t item) const {
    return item / (group_bands * panels) * group_bands + item % group_bands;
  }
};

Blocking make_blocking(const simd::GemmShape& shape, int64_t rows, int64_t columns, int64_t depth,
                       int64_t workers) {
  const int64_t tile_columns = simd::kGemmMaxVectors * shape.lanes;
  int64_t panel_tiles = std::clamp<int64_t>(
      kPanelBytes / (tile_columns * std::max<int64_t>(depth, 1) * kFloat), 1, kMaxPanelTiles);
  const int64_t max_bands = std::max<int64_t>(1, rows / kMinBandRows);
  const bool by_rows = workers > 1 && rows > columns && max_bands >= workers;
  // Makes panels narrower until there are enough panels for all threads.
  while (!by_rows && panel_tiles > 1 &&
         columns / (panel_tiles * tile_columns) < kTasksPerWorker * (workers - 1)) {
    --panel_tiles;
  }
  Blocking blocking{};
  blocking.vectors = divide_up(columns, shape.lanes);
  blocking.panel_vectors = panel_tiles * simd::kGemmMaxVectors;
  blocking.panels = divide_up(blocking.vectors, blocking.panel_vectors);
  blocking.row_tiles = divide_up(rows, shape.rows);
  if (by_rows) {
    blocking.group_bands =
        std::clamp<int64_t>(max_bands / workers, 1, divide_up(kTasksPerWorker, blocking.panels));
    blocking.bands = workers * blocking.group_bands;
    return blocking;
  }
  // If there are few panels, the threads also share the rows.
  const int64_t wanted = workers == 1 ? 1 : divide_up(kTasksPerWorker * workers, blocking.panels);
  blocking.bands = std::clamp<int64_t>(wanted, 1, max_bands);
  blocking.group_bands = blocking.bands;
  return blocking;
}

struct Panel {
  const float* right;
  int64_t right_stride;
  int64_t vector_stride;  // distance between vectors of columns
  int64_t column;
  int64_t columns;
  int64_t vectors;
};

class BlockedProduct {
 public:
  BlockedProduct(const GemmOperands& operands, const simd::GemmShape& shape,
                 const Blocking& blocking, int64_t rows, int64_t columns, int64_t depth)
      : operands_(operands),
        shape_(shape),
        blocking_(blocking),
        rows_(rows),
        columns_(columns),
        depth_(depth),
        // For few rows, packing the panel costs more time than it saves.
        right_in_place_(rows <= 2 * shape.rows ? operands.right_in_place() : GemmRows{nullptr, 0}),
        packed_right_(operands.packed_right()),
        result_(operands.result_in_place()) {}

  // A worker needs memory_height() * memory_width() floats of temporary memory: a packed panel,
  // followed by rows of the left side.
  int64_t memory_height() const { return std::max<int64_t>(depth_, 1); }
  int64_t memory_width() const {
    return panel_memory() + (operands_.wants_scratch() ? shape_.rows : 0);
  }

  // Computes one work item. `packed` is the index of the panel in the worker's memory, or -1.
  void multiply(int64_t item, float* memory, int64_t& packed) const {
    const Panel panel = prepare_panel(blocking_.panel(item), memory, packed);
    const int64_t band = blocking_.band(item);
    const int64_t begin = blocking_.row_tiles * band / blocking_.bands * shape_.rows;
    const int64_t end =
        std::min(rows_, blocking_.row_tiles * (band + 1) / blocking_.bands * shape_.rows);
    float* const scratch = memory + memory_height() * panel_memory();
    for (int64_t row = begin; row < end; row += shape_.rows) {
      multiply_rows(panel, row, std::min(shape_.rows, end - row), scratch);
    }
  }

 private:
  // Width of a worker's memory for a packed panel, in columns. 0 if the right side is already
  // packed.
  int64_t panel_memory() const {
    return packed_right_ != nullptr ? 0 : blocking_.panel_vectors * shape_.lanes;
  }

  Panel prepare_panel(int64_t index, float* memory, int64_t& packed) const {
    const int64_t first = blocking_.vectors * index / blocking_.panels;
    Panel panel{};
    panel.vectors = blocking_.vectors * (index + 1) / blocking_.panels - first;
    panel.column = first * shape_.lanes;
    const int64_t width = panel.vectors * shape_.lanes;
    panel.columns = std::min(width, columns_ - panel.column);
    panel.vector_stride = shape_.lanes;
    if (packed_right_ != nullptr) {
      panel.right = packed_right_ + first * depth_ * shape_.lanes;
      panel.right_stride = shape_.lanes;
      panel.vector_stride = depth_ * shape_.lanes;
    } else if (right_in_place_.data != nullptr &&
               (panel.columns == width || right_in_place_.has_slack)) {
      panel.right = right_in_place_.data + panel.column;
      panel.right_stride = right_in_place_.stride;
    } else {
      if (packed != index) operands_.pack_right(panel.column, panel.columns, width, memory);
      packed = index;
      panel.right = memory;
      panel.right_stride = width;
    }
    return panel;
  }

  void multiply_rows(const Panel& panel, int64_t row, int64_t rows, float* scratch) const {
    alignas(64) float sums[simd::kGemmMaxRows * simd::kGemmMaxVectors * simd::kGemmMaxLanes];
    const GemmRows left = operands_.left_rows(row, rows, scratch);
    simd::GemmTile tile{};
    tile.depth = depth_;
    tile.rows = rows;
    tile.left = left.data;
    tile.left_stride = left.stride;
    tile.right_stride = panel.right_stride;
    tile.vector_stride = panel.vector_stride;
    const int64_t tiles = divide_up(panel.vectors, simd::kGemmMaxVectors);
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = panel.vectors * t / tiles;
      tile.vectors = panel.vectors * (t + 1) / tiles - begin;
      const int64_t offset = begin * shape_.lanes;
      const int64_t width = tile.vectors * shape_.lanes;
      tile.right = panel.right + begin * panel.vector_stride;
      if (result_.data != nullptr) {
        const int64_t column = panel.column + offset;
        tile.sums = result_.data + row * result_.stride + column;
        tile.sums_stride = result_.stride;
        tile.columns = panel.columns - offset;
        tile.start = result_.start == nullptr ? nullptr : result_.start + row;
        tile.bias = result_.bias == nullptr ? nullptr : result_.bias + column;
        simd::multiply_tile(tile);
        continue;
      }
      tile.sums = sums;
      tile.sums_stride = width;
      simd::multiply_tile(tile);
      operands_.store(row, rows, panel.column + offset, std::min(width, panel.columns - offset),
                      sums, width);
    }
  }

  const GemmOperands& operands_;
  const simd::GemmShape shape_;
  const Blocking blocking_;
  const int64_t rows_;
  const int64_t columns_;
  const int64_t depth_;
  const GemmRows right_in_place_;
  const float* const packed_right_;
  const GemmOperands::InPlace result_;
};

// Computes a small product without panels or temporary memory. Returns false without doing anything
// unless all operands can be used in place.
bool multiply_in_place(const simd::GemmShape& shape, int64_t rows, int64_t columns, int64_t depth,
                       const GemmOperands& operands) {
  // Products with more tiles than the limit below are faster as a BlockedProduct.
  const int64_t vectors = divide_up(columns, shape.lanes);
  const int64_t tiles = divide_up(vectors, simd::kGemmMaxVectors);
  if (tiles > (rows <= shape.rows ? kMaxPanelTiles : 1) || operands.wants_scratch()) return false;
  const GemmOperands::InPlace result = operands.result_in_place();
  if (result.data == nullptr) return false;
  simd::GemmTile tile{};
  tile.right = operands.packed_right();
  if (tile.right != nullptr) {
    tile.right_stride = shape.lanes;
    tile.vector_stride = depth * shape.lanes;
  } else {
    const GemmRows right = operands.right_in_place();
    if (right.data == nullptr || !(right.has_slack || columns == vectors * shape.lanes)) {
      return false;
    }
    tile.right = right.data;
    tile.right_stride = right.stride;
    tile.vector_stride = shape.lanes;
  }
  const float* const first_right = tile.right;
  tile.depth = depth;
  tile.sums_stride = result.stride;
  for (int64_t row = 0; row < rows; row += shape.rows) {
    tile.rows = std::min(shape.rows, rows - row);
    const GemmRows left = operands.left_rows(row, tile.rows, nullptr);
    tile.left = left.data;
    tile.left_stride = left.stride;
    tile.start = result.start == nullptr ? nullptr : result.start + row;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t begin = vectors * t / tiles;
      const int64_t column = begin * shape.lanes;
      tile.vectors = vectors * (t + 1) / tiles - begin;
      tile.columns = columns - column;
      tile.right = first_right + begin * tile.vector_stride;
      tile.sums = result.data + row * result.stride + column;
      tile.bias = result.bias == nullptr ? nullptr : result.bias + column;
      simd::multiply_tile(tile);
    }
  }
  return true;
}

}  // namespace

std::optional<int64_t> packed_size(int64_t columns, int64_t depth) {
  const int64_t lanes = simd::gemm_shape().lanes;
  return checked_product({divide_up(columns, lanes), lanes, depth});
}

void pack_columns(KernelContext& context, int64_t columns, int64_t depth,
                  const GemmOperands& operands, float* packed) {
  const int64_t lanes = simd::gemm_shape().lanes;
  parallel(context, divide_up(columns, lanes), work_of({columns, depth, 4}),
           [&](int64_t vector, int64_t) {
             const int64_t first = vector * lanes;
             operands.pack_right(first, std::min(lanes, columns - first), lanes,
                                 packed + first * depth);
           });
}

int64_t gemm_lanes() { return simd::gemm_shape().lanes; }

// A panel spans the entire depth, so that sums stay in registers and each result is written once. A
// panel is read from the second-level cache.
void gemm(KernelContext& context, int64_t rows, int64_t columns, int64_t depth,
          const GemmOperands& operands) {
  if (rows <= 0 || columns <= 0) return;
  const simd::GemmShape shape = simd::gemm_shape();
  const int64_t work = work_of({rows, columns, depth + 1});
  const int64_t workers = worker_count(context, work);
  if (work < kParallelWork && multiply_in_place(shape, rows, columns, depth, operands)) return;
  const Blocking blocking = make_blocking(shape, rows, columns, depth, workers);
  const BlockedProduct product(operands, shape, blocking, rows, columns, depth);
  const KernelContext::TemporaryScope scope(context);
  auto* const memory = static_cast<float*>(context.allocate_temp(
      {workers, product.memory_height(), product.memory_width(), sizeof(float)}));
  if (memory == nullptr) return;
  const int64_t worker_size = product.memory_height() * product.memory_width();
  int64_t packed[kMaxWorkers];
  std::fill_n(packed, workers, -1);
  parallel(context, blocking.panels * blocking.bands, work, [&](int64_t item, int64_t worker) {
    product.multiply(item, memory + worker * worker_size, packed[worker]);
  });
}

}  // namespace vitrine::optimized
