#include "kernels/optimized/simd/columns.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/columns.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/math-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

// Combines first[c] with all elements of column c into to[c], for c < n * lanes and c < count. A
// null `first` means 0.
template <int n, class Combine>
HWY_INLINE void combine_columns(const float* first, const float* in, int64_t rows, int64_t stride,
                                int64_t count, float* to, const Combine& combine) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V total[n];
  for (int k = 0; k < n; ++k) {
    total[k] = first == nullptr ? hn::Zero(d) : load_part(d, first + k * lanes, count - k * lanes);
  }
  for (int64_t r = 0; r < rows; ++r, in += stride) {
    for (int k = 0; k < n; ++k) {
      total[k] = combine(total[k], load_part(d, in + k * lanes, count - k * lanes));
    }
  }
  for (int k = 0; k < n; ++k) store_part(total[k], d, to + k * lanes, count - k * lanes);
}

constexpr int64_t kColumnRows = 128;  // rows that one pass over the columns combines

template <class Combine>
HWY_INLINE void combine_all_columns(const float* first, const float* in, int64_t rows,
                                    int64_t stride, int64_t count, float* to,
                                    const Combine& combine) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Tag()));
  for (int64_t c = 0; c < count;) {
    const float* const from = first == nullptr ? nullptr : first + c;
    if (count - c >= 4 * lanes) {
      combine_columns<4>(from, in + c, rows, stride, 4 * lanes, to + c, combine);
      c += 4 * lanes;
    } else {
      combine_columns<1>(from, in + c, rows, stride, count - c, to + c, combine);
      c += lanes;
    }
  }
}

void ColumnSums(const float* in, int64_t rows, int64_t stride, int64_t count, double* sums) {
  alignas(64) float part[kColumns];
  std::fill_n(sums, count, 0.0);
  for (int64_t start = 0; start < rows; start += kColumnRows, in += kColumnRows * stride) {
    combine_all_columns(nullptr, in, std::min(rows - start, kColumnRows), stride, count, part,
                        [](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    for (int64_t c = 0; c < count; ++c) sums[c] += static_cast<double>(part[c]);
  }
}

template <bool high>
HWY_INLINE void column_extremum(const float* in, int64_t rows, int64_t stride, int64_t count,
                                float* out) {
  const float* best = in;
  for (int64_t start = 0; start < rows; start += kColumnRows, in += kColumnRows * stride) {
    combine_all_columns(best, in, std::min(rows - start, kColumnRows), stride, count, out,
                        [](V a, V x) HWY_ATTR {
                          return keep_nan(a, keep_nan(x, high ? hn::Max(a, x) : hn::Min(a, x)));
                        });
    best = out;
  }
}

void ColumnLargest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out) {
  column_extremum<true>(in, rows, stride, count, out);
}
void ColumnSmallest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out) {
  column_extremum<false>(in, rows, stride, count, out);
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(ColumnSums);
VITRINE_EXPORT(ColumnLargest);
VITRINE_EXPORT(ColumnSmallest);

void column_sums(const float* in, int64_t rows, int64_t stride, int64_t count, double* sums) {
  VITRINE_DISPATCH(ColumnSums)(in, rows, stride, count, sums);
}
void column_largest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out) {
  VITRINE_DISPATCH(ColumnLargest)(in, rows, stride, count, out);
}
void column_smallest(const float* in, int64_t rows, int64_t stride, int64_t count, float* out) {
  VITRINE_DISPATCH(ColumnSmallest)(in, rows, stride, count, out);
}

}  // namespace vitrine::optimized::simd
#endif
