// Transposes matrices tile by tile, in vector registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine {

// Number of rows of a square tile with elements of `size` bytes. 0 if this size is not supported.
int64_t transpose_tile_size(size_t size);

// Sets to[r * to_stride + c] = from[c * from_stride + r] for r < rows and c < columns. Both counts
// must be multiples of transpose_tile_size(size), which must not be 0. Strides are in elements.
// `from` and `to` must not overlap. Several calls may fill one matrix, which has `matrix_elements`
// elements.
void transpose_tiles(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                     int64_t rows, int64_t columns, size_t size, int64_t matrix_elements);

}  // namespace vitrine
