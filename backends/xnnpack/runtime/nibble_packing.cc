#include "backends/xnnpack/runtime/nibble_packing.h"

#ifdef VITRINE_XNNPACK_PRIVATE_HEADERS

#include <xnnpack.h>

#include <algorithm>
#include <bit>
#include <cstring>

extern "C" {
#include "xnnpack/config.h"
#include "xnnpack/pack.h"
}

namespace vitrine::xnnpack {
namespace {

constexpr size_t kMaxRows = 64;  // that are packed together

// A unit is what a row has in one place of the packed weights: as many bytes as columns are read
// at a time, with the first columns in their low halves and the next ones in their high halves.
// Weights that lie two by two in bytes become one, by exchanges of neighbours: 0 1 2 3 | 4 5 6 7,
// then 0 1 4 5 | 2 3 6 7, then 0 4 1 5 | 2 6 3 7.
uint32_t interleave(uint32_t x) {
  x = (x & 0xFF0000FF) | (x & 0x0000FF00) << 8 | (x >> 8 & 0x0000FF00);
  return (x & 0xF00FF00F) | (x & 0x00F000F0) << 4 | (x >> 4 & 0x00F000F0);
}

uint64_t interleave(uint64_t x) {
  x = (x & 0xFFFF00000000FFFF) | (x & 0x00000000FFFF0000) << 16 | (x >> 16 & 0x00000000FFFF0000);
  x = (x & 0xFF0000FFFF0000FF) | (x & 0x0000FF000000FF00) << 8 | (x >> 8 & 0x0000FF000000FF00);
  return (x & 0xF00FF00FF00FF00F) | (x & 0x00F000F000F000F0) << 4 | (x >> 4 & 0x00F000F000F000F0);
}

constexpr uint32_t every_byte(uint32_t, uint32_t byte) { return byte * 0x01010101; }
constexpr uint64_t every_byte(uint64_t, uint64_t byte) { return byte * 0x0101010101010101; }

template <class Unit>
int32_t sum_of_nibbles(Unit x) {
  const Unit low = every_byte(x, 0x0F);
  const Unit pairs = (x & low) + (x >> 4 & low);
  return static_cast<int32_t>(pairs * every_byte(x, 1) >> (8 * (sizeof(Unit) - 1)));
}

float from_bf16(const uint16_t* scales, size_t i) {
  return std::bit_cast<float>(static_cast<uint32_t>(scales[i]) << 16);
}

// What stays the same over a matrix.
struct Matrix {
  size_t columns;
  size_t nr;
  size_t block;
  const uint8_t* kernel;
  const uint16_t* scales;
  size_t extra_of_block;
  float input_zero_point;
};

// Rows first .. first + count. One loop does one thing, so that the compiler uses vectors.
template <class Unit>
uint8_t* pack_rows(const Matrix& m, size_t first, size_t count, uint8_t* packed) {
  constexpr size_t kColumns = 2 * sizeof(Unit);
  float sums[kMaxRows];
  float scales[kMaxRows];
  Unit units[kMaxRows];
  uint8_t* const packed_sums = packed;
  std::memcpy(sums, packed_sums, count * sizeof(float));
  packed += m.nr * sizeof(float);
  const uint8_t* const kernel = m.kernel + first * m.columns / 2;
  const uint16_t* const all_scales = m.scales + first * (m.columns / m.block);
  for (size_t column = 0; column < m.columns; column += kColumns) {
    if (column % m.block == 0) {
      for (size_t n = 0; n < count; ++n) {
        scales[n] = m.input_zero_point *
                    from_bf16(all_scales, n * (m.columns / m.block) + column / m.block);
      }
    }
    for (size_t n = 0; n < count; ++n) {
      std::memcpy(&units[n], kernel + (n * m.columns + column) / 2, sizeof(Unit));
    }
    for (size_t n = 0; n < count; ++n) {
      // The product is exact, so that it does not matter whether it is fused.
      const int32_t sum = sum_of_nibbles(units[n]) - static_cast<int32_t>(8 * kColumns);
      sums[n] -= static_cast<float>(sum) * scales[n];
      units[n] = interleave(units[n]) ^ every_byte(Unit{}, 0x88);
    }
    std::memcpy(packed, units, count * sizeof(Unit));
    packed += m.nr * sizeof(Unit);
    if ((column + kColumns) % m.block == 0) packed += m.extra_of_block;
  }
  std::memcpy(packed_sums, sums, count * sizeof(float));
  return packed;
}

void pack(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr, size_t sr, size_t block,
          const void* kernel, const void* bias, const void* scales, void* packed,
          size_t extra_bytes_of_block, size_t extra_bytes_of_row, const void* params) {
  const bool is_known = std::endian::native == std::endian::little && groups == 1 && sr == 1 &&
                        (kr == 4 || kr == 8) && columns % (2 * kr) == 0 && block % (2 * kr) == 0 &&
                        columns % block == 0 && nr <= kMaxRows;
  if (!is_known) {
    xnnpack_nibble_packing()(groups, rows, columns, nr, kr, sr, block, kernel, bias, scales, packed,
                             extra_bytes_of_block, extra_bytes_of_row, params);
    return;
  }
  const auto& points = *static_cast<const xnn_qs8_qc4w_packing_params*>(params);
  const Matrix matrix{columns,
                      nr,
                      block,
                      static_cast<const uint8_t*>(kernel),
                      static_cast<const uint16_t*>(scales),
                      extra_bytes_of_block,
                      static_cast<float>(points.input_zero_point)};
  auto* to = static_cast<uint8_t*>(packed);
  for (size_t first = 0; first < rows; first += nr) {
    const size_t count = std::min(nr, rows - first);
    to = kr == 8 ? pack_rows<uint64_t>(matrix, first, count, to)
                 : pack_rows<uint32_t>(matrix, first, count, to);
    to += extra_bytes_of_row;
  }
}

}  // namespace

PackNibbles xnnpack_nibble_packing() {
  return reinterpret_cast<PackNibbles>(&xnn_pack_qs8_qb4w_gemm_goi_w);
}
PackNibbles fast_nibble_packing() { return &pack; }

// Configurations are variables of XNNPACK, which it hands out as constants.
void use_fast_nibble_packing() {
  for (const xnn_gemm_config* config :
       {xnn_init_qd8_f32_qb4w_gemm_config(), xnn_init_qd8_f16_qb4w_gemm_config()}) {
    if (config == nullptr || config->pack_gemm_goi_bl != xnnpack_nibble_packing()) continue;
    const_cast<xnn_gemm_config*>(config)->pack_gemm_goi_bl = fast_nibble_packing();
  }
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

PackNibbles xnnpack_nibble_packing() { return nullptr; }
PackNibbles fast_nibble_packing() { return nullptr; }
void use_fast_nibble_packing() {}

}  // namespace vitrine::xnnpack

#endif
