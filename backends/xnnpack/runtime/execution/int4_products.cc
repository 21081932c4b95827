#include "backends/xnnpack/runtime/execution/int4_products.h"

#ifdef __x86_64__

#include <immintrin.h>
#include <xnnpack.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#define VITRINE_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))

namespace vitrine::xnnpack {
namespace {

constexpr size_t kColumns = 16;        // output columns of a weight tile, which fill a register
constexpr size_t kStep = 8;            // number of inputs whose weights fit in a register
constexpr size_t kBlocksAtOnce = 256;  // number of blocks whose start values are stored at a time
constexpr size_t kPrefetchedBytes = 1024;

struct Product {
  size_t columns;
  size_t block;
  size_t blocks;
  const int8_t* input;
  size_t input_stride;
  const std::byte* weights;
  float* output;
  size_t row_stride;
  size_t tile_stride;
  float min;
  float max;
  const RowQuantization* quantization;

  // A tile of weights: the negated sum of each column's weights, then the blocks, then the bias.
  size_t block_bytes() const { return kColumns * (block / 2 + sizeof(uint16_t)); }
  size_t tile_bytes() const { return 2 * kColumns * sizeof(float) + blocks * block_bytes(); }
  const int8_t* row(size_t i) const { return input + i * input_stride; }
  float* output_row(size_t i, size_t tile) const {
    return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(output) + i * row_stride +
                                    tile * tile_stride);
  }
  void skip_rows(size_t count) {
    input = row(count);
    output = output_row(count, 0);
    quantization += count;
  }
};

int32_t four_of(const int8_t* inputs) {
  int32_t four;
  std::memcpy(&four, inputs, sizeof(four));
  return four;
}

// Computes the start value of each sum of products. The dot-product instruction needs unsigned
// weights, so add_block() uses 16 * (w + 8) instead of 16 * w. The start value compensates the
// excess of 16 * 8 * (sum of the block's inputs).
VITRINE_VNNI void find_starts(const Product& p, size_t rows, size_t first, size_t count,
                              int32_t* starts) {
  const __m256i ones = _mm256_set1_epi8(1);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t b = 0; b < count; ++b) {
      const int8_t* const block = p.row(i) + (first + b) * p.block;
      __m256i sums = _mm256_setzero_si256();
      for (size_t k = 0; k < p.block; k += sizeof(sums)) {
        sums = _mm256_dpbusd_epi32(sums, ones,
                                   _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + k)));
      }
      uint32_t parts[8];
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(parts), sums);
      // Sums of very long blocks wrap around, like all integer sums in this file.
      const uint32_t excess = 8 * 16 * std::accumulate(parts, parts + 8, uint32_t{0});
      starts[i * kBlocksAtOnce + b] = static_cast<int32_t>(-excess);
    }
  }
}

template <size_t kRows>
VITRINE_VNNI void add_block(const int8_t* const* inputs, size_t offset, size_t block,
                            const int32_t* starts, const std::byte* weights, __m512* totals) {
  const __m512i upper = _mm512_set1_epi8(static_cast<char>(0xF0));
  const __m512i sign = _mm512_set1_epi8(static_cast<char>(0x80));
  constexpr int kExclusiveOrThenAnd = 0x28;  // code of (first ^ second) & third
  constexpr size_t kUnrolled = kRows == 1 ? XNN_MIN_BLOCKSIZE : kStep;
  __m512i sums[kRows];
  for (size_t i = 0; i < kRows; ++i) sums[i] = _mm512_set1_epi32(starts[i * kBlocksAtOnce]);
  for (size_t k = offset; k < offset + block; k += kUnrolled) {
    for (size_t step = 0; step < kUnrolled; step += kStep, weights += sizeof(__m512i)) {
      if (kRows == 1) _mm_prefetch(weights + kPrefetchedBytes, _MM_HINT_T0);
      __m512i packed = _mm512_loadu_si512(weights);
      asm("" : "+v"(packed));  // forces a single load, because half of the loads cross cache lines
      const __m512i first =
          _mm512_ternarylogic_epi32(_mm512_slli_epi16(packed, 4), sign, upper, kExclusiveOrThenAnd);
      const __m512i second = _mm512_ternarylogic_epi32(packed, sign, upper, kExclusiveOrThenAnd);
      for (size_t i = 0; i < kRows; ++i) {
        const __m512i four = _mm512_set1_epi32(four_of(inputs[i] + k + step));
        sums[i] = _mm512_dpbusd_epi32(sums[i], first, four);
      }
      for (size_t i = 0; i < kRows; ++i) {
        const __m512i four = _mm512_set1_epi32(four_of(inputs[i] + k + step + kStep / 2));
        sums[i] = _mm512_dpbusd_epi32(sums[i], second, four);
      }
    }
  }
  const __m256i bf16 = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
  const __m512 scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bf16), 16));
  for (size_t i = 0; i < kRows; ++i) {
    totals[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i]), scale, totals[i]);
  }
}

// Adds the products of the blocks [first, first + count) to the output, for all tiles. The output
// holds partial sums until the last call.
template <size_t kRows>
VITRINE_VNNI void add_blocks(const Product& p, size_t first, size_t count, const int32_t* starts) {
  const int8_t* inputs[kRows];
  for (size_t i = 0; i < kRows; ++i) inputs[i] = p.row(i);
  const bool is_last = first + count == p.blocks;
  const std::byte* tile = p.weights;
  for (size_t column = 0; column < p.columns; column += kColumns, tile += p.tile_bytes()) {
    const size_t width = std::min(kColumns, p.columns - column);
    const auto mask = static_cast<__mmask16>((1U << width) - 1);
    float* outputs[kRows];
    __m512 totals[kRows];
    for (size_t i = 0; i < kRows; ++i) {
      outputs[i] = p.output_row(i, column / kColumns);
      totals[i] =
          first != 0
              ? _mm512_maskz_loadu_ps(mask, outputs[i])
              : _mm512_mul_ps(_mm512_loadu_ps(tile),
                              _mm512_set1_ps(static_cast<float>(p.quantization[i].zero_point)));
    }
    const std::byte* weights = tile + kColumns * sizeof(float) + first * p.block_bytes();
    for (size_t b = 0; b < count; ++b, weights += p.block_bytes()) {
      add_block<kRows>(inputs, (first + b) * p.block, p.block, starts + b, weights, totals);
    }
    for (size_t i = 0; i < kRows; ++i) {
      if (is_last) {
        totals[i] = _mm512_fmadd_ps(totals[i], _mm512_set1_ps(p.quantization[i].scale),
                                    _mm512_loadu_ps(weights));
        totals[i] = _mm512_max_ps(totals[i], _mm512_set1_ps(p.min));
        totals[i] = _mm512_min_ps(totals[i], _mm512_set1_ps(p.max));
      }
      _mm512_mask_storeu_ps(outputs[i], mask, totals[i]);
    }
  }
}

template <size_t kRows>
void multiply_rows(const Product& p) {
  int32_t starts[kRows * kBlocksAtOnce];
  for (size_t first = 0; first < p.blocks; first += kBlocksAtOnce) {
    const size_t count = std::min(kBlocksAtOnce, p.blocks - first);
    find_starts(p, kRows, first, count, starts);
    add_blocks<kRows>(p, first, count, starts);
  }
}

struct RowsAtOnce {
  size_t rows;
  void (*multiply)(const Product&);
};
constexpr RowsAtOnce kRowsAtOnce[] = {{kInt4ProductRows, &multiply_rows<kInt4ProductRows>},
                                      {4, &multiply_rows<4>},
                                      {2, &multiply_rows<2>},
                                      {1, &multiply_rows<1>}};

void multiply(size_t rows, size_t columns, size_t depth, const int8_t* input, size_t input_stride,
              const void* weights, float* output, size_t row_stride, size_t tile_stride,
              const Int4ProductParams* params, const RowQuantization* quantization) {
  const auto& [min, max, block] = *params;
  Product product{columns, block,        depth / block,
                  input,   input_stride, static_cast<const std::byte*>(weights),
                  output,  row_stride,   tile_stride,
                  min,     max,          quantization};
  for (const RowsAtOnce& some : kRowsAtOnce) {
    for (; rows >= some.rows; rows -= some.rows) {
      some.multiply(product);
      product.skip_rows(some.rows);
    }
  }
}

}  // namespace

MultiplyInt4 fast_int4_products() { return has_avx512_vnni() ? &multiply : nullptr; }

void use_fast_int4_products() {
  if (fast_int4_products() == nullptr) return;
  constexpr size_t kLog2DepthStep = 2;
  set_int4_products(&multiply, kInt4ProductRows, kColumns, kLog2DepthStep);
}

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

MultiplyInt4 fast_int4_products() { return nullptr; }
void use_fast_int4_products() {}

}  // namespace vitrine::xnnpack

#endif
