// Transposes matrices tile by tile. Each tile is transposed in vector registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine {

// Returns the number of rows of a square tile whose elements have `size` bytes each. Returns 0 if
// this size is not supported.
int64_t transpose_tile_size(size_t size);

// Sets to[r * to_stride + c] = from[c * from_stride + r] for r < rows and c < columns. Both counts
// must be multiples of transpose_tile_size(size), which must not be 0. Strides are in elements.
// `from` and `to` must not overlap. Several calls may fill one matrix. `matrix_elements` is the
// number of elements in the entire matrix.
void transpose_tiles(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                     int64_t rows, int64_t columns, size_t size, int64_t matrix_elements);

}  // namespace vitrine
