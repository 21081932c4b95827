// A matrix transposed by tiles in vector registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vitrine {

// Rows and columns of a tile of elements of `size` bytes; 0 if such
// elements have no tiles.
int64_t transposed_tile(size_t size);

// to[r * to_stride + c] = from[c * from_stride + r] for r < rows and c < columns, both multiples of
// transposed_tile(size), which is not 0; strides count elements. The two must not overlap. `whole`
// is the number of elements of all calls together that make one matrix.
void transpose_tiles(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                     int64_t rows, int64_t columns, size_t size, int64_t whole);

}  // namespace vitrine
