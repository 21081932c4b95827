#include "backends/xnnpack/runtime/execution/row_copies.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "backends/xnnpack/runtime/execution/runtime_access.h"

namespace vitrine::xnnpack {
namespace {

template <size_t kBytes>
void copy_rows(const void* context, size_t first, size_t count) {
  const StridedRows rows = strided_rows(context);
  const std::byte* from = rows.from + first * rows.from_stride;
  std::byte* to = rows.to + first * rows.to_stride;
  for (; count != 0; --count, from += rows.from_stride, to += rows.to_stride) {
    std::memcpy(to, from, kBytes);
  }
}

// Minimum number of bytes in a task. XNNPACK would run one task per row.
constexpr size_t kTileBytes = 4096;

// Up to this constant size, the compiler emits move instructions instead of a call to memcpy.
constexpr size_t kMaxRowBytes = 256;
constexpr size_t kBlockBytes = 16;  // longer rows must be multiples of this size

constexpr CopyRows kByLogBytes[] = {&copy_rows<1>, &copy_rows<2>, &copy_rows<4>, &copy_rows<8>};

template <size_t... kIndices>
CopyRows copy_of_blocks(size_t blocks, std::index_sequence<kIndices...>) {
  static constexpr CopyRows kByBlocks[] = {&copy_rows<(kIndices + 1) * kBlockBytes>...};
  return kByBlocks[blocks - 1];
}

// Returns null if rows of this size do not have a special loop.
CopyRows copy_of(size_t row_bytes) {
  if (row_bytes < kBlockBytes) {
    return std::has_single_bit(row_bytes) ? kByLogBytes[std::countr_zero(row_bytes)] : nullptr;
  }
  if (row_bytes % kBlockBytes != 0 || row_bytes > kMaxRowBytes) return nullptr;
  return copy_of_blocks(row_bytes / kBlockBytes,
                        std::make_index_sequence<kMaxRowBytes / kBlockBytes>());
}

// Transpositions read or write fewer cache lines at a time with long tiles. The lines of images
// with 2^n pixels share a set of the cache, which holds only a few of them. XNNPACK's tiles have
// kTileSide rows and columns.
constexpr size_t kTileSide = 32;
constexpr size_t kShortSide = 16;  // a cache line of elements
constexpr size_t kLongSide = 128;

void use_long_tiles(const TiledTransposition& transposition) {
  if (transposition.rows > transposition.columns) {
    transposition.tile[0] = kLongSide;
    transposition.tile[1] = kShortSide;
  } else if (transposition.rows >= kTileSide && transposition.rows * 4 <= transposition.columns) {
    transposition.tile[1] = kLongSide;
  }
}

}  // namespace

void use_fast_row_copies(xnn_runtime_t runtime) {
  for (size_t i = 0; i < operator_count(runtime); ++i) {
    for (const xnn_operator_t op : operator_at(runtime, i).objects) {
      if (op == nullptr) continue;
      if (const auto transposition = tiled_transposition_of(op)) use_long_tiles(*transposition);
      const std::optional<StridedCopy> copy = strided_copy_of(op);
      if (!copy) continue;
      const size_t bytes = std::max<size_t>(copy->row_bytes, 1);
      size_t& rows_per_task = *copy->rows_per_task;
      rows_per_task = std::max(rows_per_task, std::min(kTileBytes / bytes, copy->row_count));
      if (const CopyRows rows = copy_of(bytes); rows != nullptr) set_strided_copy(op, rows);
    }
  }
}

}  // namespace vitrine::xnnpack
