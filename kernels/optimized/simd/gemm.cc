#include "kernels/optimized/simd/gemm.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/gemm.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Number of rows in a tile. The sums and four vectors of the operands must fit into the registers.
// x86 before AVX-512 has 16 registers. Other instruction sets have 32.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int64_t kRows = 4;
#else
constexpr int64_t kRows = 8;
#endif
static_assert(kRows <= kGemmMaxRows);

constexpr int64_t kPrefetchEvery = 16;  // floats in a cache line
constexpr int64_t kPrefetchAhead = 128;

using Tag = hn::CappedTag<float, kGemmMaxLanes>;

HWY_INLINE void prefetch_rows(const float* first, const float* second, int64_t stride) {
  for (int64_t r = 0; r < 4; ++r) {
    hwy::Prefetch(first + r * stride + kPrefetchAhead);
    hwy::Prefetch(second + r * stride + kPrefetchAhead);
  }
}

// For each index along the depth, loads the vectors of the right side once and broadcasts elements
// of the left side from memory. All loops over rows and vectors are unrolled, so that the sums stay
// in registers.
template <int64_t kTileRows, int64_t kVectors>
HWY_INLINE void multiply(const GemmTile& tile) {
  const Tag d;
  using V = hn::Vec<Tag>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* HWY_RESTRICT right = tile.right;
  const int64_t stride = tile.left_stride;
  // `first` is the base of rows 0 to 3. `second` is the base of rows 4 to 7.
  const float* HWY_RESTRICT first = tile.left;
  const float* HWY_RESTRICT second = kTileRows > 4 ? first + 4 * stride : first;

  V sums[kTileRows][kVectors];
  if (tile.bias != nullptr && tile.start == nullptr) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const V start = load_part(d, tile.bias + v * lanes, tile.columns - v * lanes);
#pragma GCC unroll 8
      for (int64_t r = 0; r < kTileRows; ++r) sums[r][v] = start;
    }
  } else {
#pragma GCC unroll 8
    for (int64_t r = 0; r < kTileRows; ++r) {
      const V start = tile.start != nullptr ? hn::Set(d, tile.start[r]) : hn::Zero(d);
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = start;
    }
  }

  const int64_t depth = tile.depth;
  const int64_t right_stride = tile.right_stride;
  const int64_t left_step = tile.left_step;
  const int64_t ahead = tile.right_ahead;
  const int64_t step = tile.vector_stride != 0 ? tile.vector_stride : lanes;
  for (int64_t k = 0; k < depth; ++k) {
    if (kTileRows == 8 && k % kPrefetchEvery == 0) prefetch_rows(first, second, stride);
    V vectors[kVectors];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) vectors[v] = hn::LoadU(d, right + v * step);
    if (kTileRows >= 4 && ahead != 0) {
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) hwy::Prefetch(right + ahead + v * step);
    }
    right += right_stride;
#pragma GCC unroll 8
    for (int64_t r = 0; r < kTileRows; ++r) {
      const V left = hn::Set(d, r < 4 ? first[r * stride] : second[(r - 4) * stride]);
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(left, vectors[v], sums[r][v]);
    }
    first += left_step;
    second += left_step;
  }

  const int64_t columns = tile.columns;
  if (columns < kVectors * lanes) {
#pragma GCC unroll 8
    for (int64_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) {
        store_part(sums[r][v], d, tile.sums + r * tile.sums_stride + v * lanes,
                   columns - v * lanes);
      }
    }
    return;
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, tile.sums + r * tile.sums_stride + v * lanes);
    }
  }
}

template <int64_t kTileRows>
HWY_NOINLINE void multiply_rows(const GemmTile& tile) {
  if (tile.vectors == 3) return multiply<kTileRows, 3>(tile);
  if (tile.vectors == 2) return multiply<kTileRows, 2>(tile);
  multiply<kTileRows, 1>(tile);
}

void MultiplyTile(const GemmTile& full_tile) {
  if (full_tile.rows == kRows) return multiply_rows<kRows>(full_tile);
  GemmTile tile = full_tile;
  while (tile.rows > 0) {
    int64_t done = 1;
    if (kRows == 8 && tile.rows >= 8) {
      multiply_rows<kRows>(tile);
      done = kRows;
    } else if (tile.rows >= 4) {
      multiply_rows<4>(tile);
      done = 4;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    } else if (tile.rows == 3) {
      multiply_rows<3>(tile);
      done = 3;
#endif
    } else if (tile.rows >= 2) {
      multiply_rows<2>(tile);
      done = 2;
    } else {
      multiply_rows<1>(tile);
    }
    tile.left += done * tile.left_stride;
    tile.sums += done * tile.sums_stride;
    if (tile.start != nullptr) tile.start += done;
    tile.rows -= done;
  }
}

// Like multiply(), but with a separate pointer for each row and tap.
template <int64_t kVectors>
HWY_NOINLINE void multiply_taps(const TapTile& tile) {
  const Tag d;
  using V = hn::Vec<Tag>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* HWY_RESTRICT weights = tile.weights;
  V sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) {
    const V start = tile.bias != nullptr
                        ? load_part(d, tile.bias + v * lanes, tile.columns - v * lanes)
                        : hn::Zero(d);
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r) sums[r][v] = start;
  }
  const int64_t depth = tile.depth;
  for (int64_t t = 0; t < tile.taps; ++t) {
    const float* HWY_RESTRICT inputs[kRows];
    if (tile.table != nullptr) {
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) inputs[r] = tile.table[t * kGemmMaxRows + r];
    } else {
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) inputs[r] = tile.inputs[r] + tile.offsets[t];
    }
    for (int64_t k = 0; k < depth; ++k) {
      V vectors[kVectors];
#pragma GCC unroll 8
      for (int64_t v = 0; v < kVectors; ++v) vectors[v] = hn::LoadU(d, weights + v * lanes);
      weights += kVectors * lanes;
#pragma GCC unroll 8
      for (int64_t r = 0; r < kRows; ++r) {
        const V input = hn::Set(d, inputs[r][k]);
#pragma GCC unroll 8
        for (int64_t v = 0; v < kVectors; ++v) {
          sums[r][v] = hn::MulAdd(input, vectors[v], sums[r][v]);
        }
      }
    }
  }
  const V min = hn::Set(d, tile.min);
  const V max = hn::Set(d, tile.max);
#pragma GCC unroll 8
  for (int64_t r = 0; r < kRows; ++r) {
    if (r >= tile.rows) break;
    float* const out = tile.out + r * tile.out_stride;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      V sum = sums[r][v];  // the comparisons keep a NaN, unlike Min and Max
      sum = hn::IfThenElse(hn::Lt(sum, min), min, sum);
      sum = hn::IfThenElse(hn::Gt(sum, max), max, sum);
      store_part(sum, d, out + v * lanes, tile.columns - v * lanes);
    }
  }
}

void MultiplyTaps(const TapTile& tile) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag()));
  if (tile.columns > 2 * lanes) return multiply_taps<3>(tile);
  if (tile.columns > lanes) return multiply_taps<2>(tile);
  multiply_taps<1>(tile);
}

// Dot products of `kCount` rows (1 or 4) with a vector. Each row has two sums.
template <int64_t kCount>
HWY_INLINE void dot_rows(const float* left, int64_t stride, const float* vector, int64_t depth,
                         float* out) {
  const Tag d;
  using V = hn::Vec<Tag>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* const r0 = left;
  const float* const r1 = left + (kCount > 1 ? stride : 0);
  const float* const r2 = left + (kCount > 2 ? 2 * stride : 0);
  const float* const r3 = left + (kCount > 3 ? 3 * stride : 0);
  V s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  V t0 = s0, t1 = s0, t2 = s0, t3 = s0;
  int64_t k = 0;
  for (; k + 2 * lanes <= depth; k += 2 * lanes) {
    const V x = hn::LoadU(d, vector + k);
    const V y = hn::LoadU(d, vector + k + lanes);
    s0 = hn::MulAdd(hn::LoadU(d, r0 + k), x, s0);
    t0 = hn::MulAdd(hn::LoadU(d, r0 + k + lanes), y, t0);
    if constexpr (kCount > 1) {
      s1 = hn::MulAdd(hn::LoadU(d, r1 + k), x, s1);
      t1 = hn::MulAdd(hn::LoadU(d, r1 + k + lanes), y, t1);
      s2 = hn::MulAdd(hn::LoadU(d, r2 + k), x, s2);
      t2 = hn::MulAdd(hn::LoadU(d, r2 + k + lanes), y, t2);
      s3 = hn::MulAdd(hn::LoadU(d, r3 + k), x, s3);
      t3 = hn::MulAdd(hn::LoadU(d, r3 + k + lanes), y, t3);
    }
  }
  for (; k < depth; k += lanes) {
    const int64_t rest = depth - k;
    const V x = load_part(d, vector + k, rest);
    s0 = hn::MulAdd(load_part(d, r0 + k, rest), x, s0);
    if constexpr (kCount > 1) {
      s1 = hn::MulAdd(load_part(d, r1 + k, rest), x, s1);
      s2 = hn::MulAdd(load_part(d, r2 + k, rest), x, s2);
      s3 = hn::MulAdd(load_part(d, r3 + k, rest), x, s3);
    }
  }
  out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, t0)));
  if constexpr (kCount > 1) {
    out[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s1, t1)));
    out[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s2, t2)));
    out[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(s3, t3)));
  }
}

void MultiplyVector(const float* left, int64_t left_stride, int64_t rows, const float* vector,
                    int64_t depth, float* out) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    dot_rows<4>(left + r * left_stride, left_stride, vector, depth, out + r);
  }
  for (; r < rows; ++r) dot_rows<1>(left + r * left_stride, left_stride, vector, depth, out + r);
}

GemmShape Shape() { return {kRows, static_cast<int64_t>(hn::Lanes(Tag()))}; }

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(MultiplyTile);
VITRINE_EXPORT(MultiplyTaps);
VITRINE_EXPORT(Shape);
VITRINE_EXPORT(MultiplyVector);

void multiply_tile(const GemmTile& tile) { VITRINE_DISPATCH(MultiplyTile)(tile); }
void multiply_taps(const TapTile& tile) { VITRINE_DISPATCH(MultiplyTaps)(tile); }
void multiply_vector(const float* left, int64_t left_stride, int64_t rows, const float* vector,
                     int64_t depth, float* out) {
  VITRINE_DISPATCH(MultiplyVector)(left, left_stride, rows, vector, depth, out);
}
GemmShape gemm_shape() { return VITRINE_DISPATCH(Shape)(); }

}  // namespace vitrine::optimized::simd
#endif
