#include "backends/xnnpack/runtime/execution/f32_products.h"

#ifdef __x86_64__

#include <immintrin.h>

#include <cstddef>

#include "backends/xnnpack/runtime/execution/runtime_access.h"

#define VITRINE_AVX512 __attribute__((target("avx512f")))

namespace vitrine::xnnpack {
namespace {

constexpr size_t kRows = 7;
constexpr size_t kColumns = 32;
constexpr size_t kTail = 16;  // number of columns that fill a register
constexpr __mmask16 kAllLanes = 0xffff;

MultiplyF32 multiply_tiles = nullptr;

const float* offset(const float* from, size_t bytes) {
  return reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(from) + bytes);
}
float* offset(float* from, size_t bytes) {
  return reinterpret_cast<float*>(reinterpret_cast<std::byte*>(from) + bytes);
}

// Computes the first `columns` (at most kTail) columns of a tile: a bias, then `depth` rows of
// weights, with kColumns values each.
template <size_t kCount>
VITRINE_AVX512 void multiply_tail(size_t columns, size_t depth, const float* input,
                                  size_t input_stride, const float* weights, float* output,
                                  size_t row_stride, const F32ProductParams& params) {
  const float* in[kCount];
  __m512 sums[kCount];
#pragma GCC unroll 7
  for (size_t i = 0; i < kCount; ++i) {
    in[i] = offset(input, i * input_stride);
    sums[i] = _mm512_loadu_ps(weights);
  }
  for (size_t k = 0; k < depth; ++k) {
    weights += kColumns;
    const __m512 row = _mm512_loadu_ps(weights);
#pragma GCC unroll 7
    for (size_t i = 0; i < kCount; ++i) {
      sums[i] = _mm512_fmadd_ps(_mm512_set1_ps(in[i][k]), row, sums[i]);
    }
  }
  const __m512 min = _mm512_set1_ps(params.min);
  const __m512 max = _mm512_set1_ps(params.max);
  const auto mask = static_cast<__mmask16>((1U << columns) - 1);
#pragma GCC unroll 7
  for (size_t i = 0; i < kCount; ++i) {
    // This order of operands keeps NaN. GCC 12 warns of _mm512_min_ps(), but not of these variants.
    const __m512 above = _mm512_maskz_max_ps(kAllLanes, min, sums[i]);
    const __m512 bounded = _mm512_maskz_min_ps(kAllLanes, max, above);
    _mm512_mask_storeu_ps(offset(output, i * row_stride), mask, bounded);
  }
}

constexpr decltype(&multiply_tail<1>) kTails[kRows] = {
    multiply_tail<1>, multiply_tail<2>, multiply_tail<3>, multiply_tail<4>,
    multiply_tail<5>, multiply_tail<6>, multiply_tail<7>};

void multiply(size_t rows, size_t columns, size_t depth_bytes, const float* input,
              size_t input_stride, const float* weights, float* output, size_t row_stride,
              size_t tile_stride, const F32ProductParams* params) {
  const size_t tail = columns % kColumns;
  const bool is_narrow = tail != 0 && tail <= kTail;
  const size_t in_tiles = is_narrow ? columns - tail : columns;
  if (in_tiles != 0) {
    multiply_tiles(rows, in_tiles, depth_bytes, input, input_stride, weights, output, row_stride,
                   tile_stride, params);
  }
  if (!is_narrow) return;
  const size_t depth = depth_bytes / sizeof(float);
  kTails[rows - 1](tail, depth, input, input_stride, weights + in_tiles * (depth + 1),
                   offset(output, in_tiles / kColumns * tile_stride), row_stride, *params);
}

}  // namespace

// Without AVX-512, XNNPACK's tiles have fewer columns, so replace_f32_products() replaces nothing.
void use_narrow_f32_tails() { multiply_tiles = replace_f32_products(&multiply, kRows, kColumns); }

}  // namespace vitrine::xnnpack

#else

namespace vitrine::xnnpack {

void use_narrow_f32_tails() {}

}  // namespace vitrine::xnnpack

#endif
