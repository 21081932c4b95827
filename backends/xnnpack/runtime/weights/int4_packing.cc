#include "backends/xnnpack/runtime/weights/int4_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "backends/xnnpack/runtime/weights/packing_threads.h"
#include "vitrine/thread_pool.h"

namespace vitrine::xnnpack {
namespace {

constexpr size_t kMaxRows = 64;  // maximum number of rows in a tile

// Moves eight int4 values to the low halves of eight bytes.
uint64_t spread(uint64_t int4s) {
  uint64_t x = int4s;
  x = (x | x << 16) & 0x0000FFFF0000FFFF;
  x = (x | x << 8) & 0x00FF00FF00FF00FF;
  return (x | x << 4) & 0x0F0F0F0F0F0F0F0F;
}

uint32_t sum_of_int4(uint64_t x) {
  constexpr uint64_t kLow = 0x0F0F0F0F0F0F0F0F;
  return static_cast<uint32_t>(((x & kLow) + ((x >> 4) & kLow)) * 0x0101010101010101 >> 56);
}

float from_bf16(const uint16_t* scales, size_t i) {
  return std::bit_cast<float>(static_cast<uint32_t>(scales[i]) << 16);
}

struct Matrix {
  size_t columns;
  size_t nr;
  size_t block;
  const uint8_t* kernel;
  const uint16_t* scales;
  size_t extra_of_block;
  float input_zero_point;
};

// Packs `count` rows, starting at row `first`. A packed byte holds a value from one group of `kKr`
// columns and a value from the next group.
template <size_t kKr>
void pack_rows(const Matrix& m, size_t first, size_t count, uint8_t* packed) {
  static_assert(kKr == 4 || kKr == 8);
  float sums[kMaxRows];
  uint8_t* const packed_sums = packed;
  std::memcpy(sums, packed_sums, count * sizeof(float));
  packed += m.nr * sizeof(float);
  const size_t blocks = m.columns / m.block;
  for (size_t column = 0; column < m.columns; column += 2 * kKr) {
    for (size_t n = 0; n < count; ++n) {
      uint64_t numbers = 0;
      std::memcpy(&numbers, m.kernel + ((first + n) * m.columns + column) / 2, kKr);
      const uint64_t low = numbers & ((uint64_t{1} << (4 * kKr)) - 1);
      const uint64_t bytes = (spread(low) | spread(numbers >> (4 * kKr)) << 4) ^ 0x8888888888888888;
      std::memcpy(packed + n * kKr, &bytes, kKr);
      const auto sum = static_cast<int32_t>(sum_of_int4(numbers)) - static_cast<int32_t>(16 * kKr);
      // The product is exact, so the sum is the same with and without a fused multiply-add.
      sums[n] -= static_cast<float>(sum) * m.input_zero_point *
                 from_bf16(m.scales, (first + n) * blocks + column / m.block);
    }
    packed += m.nr * kKr;
    if ((column + 2 * kKr) % m.block == 0) packed += m.extra_of_block;
  }
  std::memcpy(packed_sums, sums, count * sizeof(float));
}

// pack_tile() packs four rows of 32 columns at a time. transpose() turns these rows into four
// vectors. Each vector holds eight columns of all four rows.
constexpr size_t kVectorRows = 4;
constexpr size_t kVectorColumns = 32;
using Words [[gnu::vector_size(16)]] = uint32_t;
using Numbers [[gnu::vector_size(16)]] = int32_t;
using Floats [[gnu::vector_size(16)]] = float;

std::array<Words, 4> transpose(const std::array<Words, 4>& rows) {
  const Words a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Words b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Words c = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Words d = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  return {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7),
          __builtin_shufflevector(c, d, 0, 1, 4, 5), __builtin_shufflevector(c, d, 2, 3, 6, 7)};
}

// Reorders the eight int4 values of each word from 0 1 2 3 4 5 6 7 to 0 4 1 5 2 6 3 7. Swaps the
// two middle bytes of a word, then the two middle values in each half of the word.
Words interleave(Words x) {
  x = (x & 0xFF0000FF) | (x & 0x0000FF00) << 8 | (x >> 8 & 0x0000FF00);
  return (x & 0xF00FF00F) | (x & 0x00F000F0) << 4 | (x >> 4 & 0x00F000F0);
}

Floats sums_of_int4(Words x) {
  x = (x & 0x0F0F0F0F) + (x >> 4 & 0x0F0F0F0F);
  x += x >> 16;
  x += x >> 8;
  return __builtin_convertvector(reinterpret_cast<Numbers>(x & 0xFF), Floats);
}

// Packs all rows of a full tile. Writes the same bytes as pack_rows<4>().
void pack_tile(const Matrix& m, size_t first, uint8_t* packed) {
  const size_t blocks = m.columns / m.block;
  const uint8_t* const kernel = m.kernel + first * m.columns / 2;
  const uint16_t* const scales = m.scales + first * blocks;
  Floats sums[kMaxRows / kVectorRows];
  Floats factors[kMaxRows / kVectorRows] = {};
  uint8_t* const packed_sums = packed;
  std::memcpy(sums, packed_sums, m.nr * sizeof(float));
  packed += m.nr * sizeof(float);
  for (size_t column = 0; column < m.columns; column += kVectorColumns) {
    for (size_t n = 0; n < m.nr; n += kVectorRows) {
      std::array<Words, 4> rows;
      for (size_t i = 0; i < kVectorRows; ++i) {
        std::memcpy(&rows[i], kernel + ((n + i) * m.columns + column) / 2, sizeof(Words));
        if (column % m.block == 0) {
          factors[n / kVectorRows][i] =
              m.input_zero_point * from_bf16(scales, (n + i) * blocks + column / m.block);
        }
      }
      uint8_t* to = packed + n * sizeof(uint32_t);
      for (const Words units : transpose(rows)) {
        // The eight values are stored with 8 added to each, so 8 * 8 is subtracted from their sum.
        // The products are exact, so fused multiply-adds do not change the sums.
        sums[n / kVectorRows] -= (sums_of_int4(units) - 8 * 8) * factors[n / kVectorRows];
        const Words bytes = interleave(units) ^ 0x88888888;
        std::memcpy(to, &bytes, sizeof(bytes));
        to += m.nr * sizeof(uint32_t);
      }
    }
    packed += m.nr * kVectorColumns / 2;
    if ((column + kVectorColumns) % m.block == 0) packed += m.extra_of_block;
  }
  std::memcpy(packed_sums, sums, m.nr * sizeof(float));
}

// Packs a matrix in tiles of `nr` rows. Several threads can pack different tiles.
struct Packing {
  Matrix matrix;
  size_t rows;
  size_t kr;
  uint8_t* packed;
  size_t tile_bytes;

  void pack_one(size_t tile) const {
    const size_t first = tile * matrix.nr;
    const size_t count = std::min(matrix.nr, rows - first);
    uint8_t* const to = packed + tile * tile_bytes;
    if (kr == 8) {
      pack_rows<8>(matrix, first, count, to);
    } else if (count == matrix.nr && matrix.nr % kVectorRows == 0 &&
               matrix.block % kVectorColumns == 0) {
      pack_tile(matrix, first, to);
    } else {
      pack_rows<4>(matrix, first, count, to);
    }
  }
};

constexpr size_t kValuesPerNs = 4;  // rough speed of one thread

void pack(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr, size_t sr, size_t block,
          const void* kernel, const void* bias, const void* scales, void* packed,
          size_t extra_bytes_of_block, size_t extra_bytes_of_row, const void* params) {
  const bool is_known = std::endian::native == std::endian::little && groups == 1 && sr == 1 &&
                        (kr == 4 || kr == 8) && columns % (2 * kr) == 0 && block % (2 * kr) == 0 &&
                        columns % block == 0 && nr <= kMaxRows;
  if (!is_known) {
    xnnpack_int4_packing()(groups, rows, columns, nr, kr, sr, block, kernel, bias, scales, packed,
                           extra_bytes_of_block, extra_bytes_of_row, params);
    return;
  }
  const auto& points = *static_cast<const Int4PackingParams*>(params);
  const size_t tile_bytes = nr * (sizeof(float) + columns / 2) +
                            columns / block * extra_bytes_of_block + extra_bytes_of_row;
  const Packing packing{{columns, nr, block, static_cast<const uint8_t*>(kernel),
                         static_cast<const uint16_t*>(scales), extra_bytes_of_block,
                         static_cast<float>(points.input_zero_point)},
                        rows,
                        kr,
                        static_cast<uint8_t*>(packed),
                        tile_bytes};
  const size_t tiles = (rows + nr - 1) / nr;
  ThreadPool* const pool = PackingThreads::pool();
  if (pool == nullptr || !pool->should_parallelize(rows * columns / kValuesPerNs)) {
    for (size_t i = 0; i < tiles; ++i) packing.pack_one(i);
    return;
  }
  pool->run(
      tiles, [](void* self, size_t i) { static_cast<const Packing*>(self)->pack_one(i); },
      const_cast<Packing*>(&packing));
}

}  // namespace

PackInt4 fast_int4_packing() { return can_access_runtimes() ? &pack : nullptr; }

void use_fast_int4_packing() { set_int4_packing(&pack); }

}  // namespace vitrine::xnnpack
