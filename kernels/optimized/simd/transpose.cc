#include "kernels/optimized/simd/transpose.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/transpose.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct Matrix {
  const float* from;
  int64_t from_stride;
  float* to;
  int64_t to_stride;
};

// Transposes a matrix with at most kMaxInterleaved lines. Writes the first rows of the result, and
// returns their number. The caller writes the other rows.
int64_t interleave(const Matrix& m, int64_t rows, int64_t columns) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t r = 0;
  if (columns == 1) {
    std::copy_n(m.from, rows, m.to);
    return rows;
  }
  for (; r + lanes <= rows; r += lanes) {
    const auto first = hn::LoadU(d, m.from + r);
    const auto second = hn::LoadU(d, m.from + m.from_stride + r);
    if (columns == 2) {
      hn::StoreInterleaved2(first, second, d, m.to + 2 * r);
      continue;
    }
    const auto third = hn::LoadU(d, m.from + 2 * m.from_stride + r);
    if (columns == 3) {
      hn::StoreInterleaved3(first, second, third, d, m.to + 3 * r);
    } else {
      const auto fourth = hn::LoadU(d, m.from + 3 * m.from_stride + r);
      hn::StoreInterleaved4(first, second, third, fourth, d, m.to + 4 * r);
    }
  }
  return r;
}

#if HWY_TARGET != HWY_SCALAR

// Transposes each block of 4 x 4 elements of four rows in place.
template <class D>
HWY_INLINE void transpose_blocks(D d, hn::Vec<D>* rows) {
  const auto a = hn::InterleaveLower(d, rows[0], rows[2]);
  const auto b = hn::InterleaveLower(d, rows[1], rows[3]);
  const auto c = hn::InterleaveUpper(d, rows[0], rows[2]);
  const auto e = hn::InterleaveUpper(d, rows[1], rows[3]);
  rows[0] = hn::InterleaveLower(d, a, b);
  rows[1] = hn::InterleaveUpper(d, a, b);
  rows[2] = hn::InterleaveLower(d, c, e);
  rows[3] = hn::InterleaveUpper(d, c, e);
}

// Transposes a square tile as wide as a vector, or its first `rows` rows and `columns` columns.
template <class D>
HWY_INLINE void transpose_tile(D d, const Matrix& m, int64_t rows, int64_t columns) {
  constexpr int kBlocks = static_cast<int>(hn::MaxLanes(d)) / 4;
  using V = hn::Vec<D>;
  V lines[4 * kBlocks];
#pragma GCC unroll 16
  for (int i = 0; i < 4 * kBlocks; ++i) {
    lines[i] = i < columns ? load_part(d, m.from + i * m.from_stride, rows) : hn::Zero(d);
  }
#pragma GCC unroll 4
  for (int i = 0; i < kBlocks; ++i) transpose_blocks(d, lines + 4 * i);
  const auto store = [&](int row, V line) HWY_ATTR {
    if (row < rows) store_part(line, d, m.to + row * m.to_stride, columns);
  };
  // Row 4 * b + r of the result consists of block b of line r, block b of line r + 4, and so on.
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
    if constexpr (kBlocks == 1) {
      store(r, lines[r]);
    } else if constexpr (kBlocks == 2) {
      store(r, hn::ConcatLowerLower(d, lines[r + 4], lines[r]));
      store(r + 4, hn::ConcatUpperUpper(d, lines[r + 4], lines[r]));
    } else {
      const V low_even = hn::ConcatLowerLower(d, lines[r + 8], lines[r]);
      const V low_odd = hn::ConcatLowerLower(d, lines[r + 12], lines[r + 4]);
      const V high_even = hn::ConcatUpperUpper(d, lines[r + 8], lines[r]);
      const V high_odd = hn::ConcatUpperUpper(d, lines[r + 12], lines[r + 4]);
      store(r, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(low_odd), low_even));
      store(r + 4, hn::OddEvenBlocks(low_odd, hn::SwapAdjacentBlocks(low_even)));
      store(r + 8, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(high_odd), high_even));
      store(r + 12, hn::OddEvenBlocks(high_odd, hn::SwapAdjacentBlocks(high_even)));
    }
  }
}

#endif

void Transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns) {
  const Matrix m{from, from_stride, to, to_stride};
  int64_t r = 0;
  if (columns <= kMaxInterleaved && to_stride == columns) r = interleave(m, rows, columns);
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; r < rows; r += lanes) {
    for (int64_t c = 0; c < columns; c += lanes) {
      const Matrix part{from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride};
      if (r + lanes <= rows && c + lanes <= columns) {
        transpose_tile(d, part, lanes, lanes);
      } else {
        transpose_tile(d, part, rows - r, columns - c);
      }
    }
  }
#endif
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(Transpose);

void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride, int64_t rows,
               int64_t columns) {
  VITRINE_DISPATCH(Transpose)(from, from_stride, to, to_stride, rows, columns);
}

}  // namespace vitrine::optimized::simd
#endif
