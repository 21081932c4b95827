#include "kernels/optimized/simd/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/attention.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/cache_rows-inl.h"
#include "kernels/optimized/simd/math-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Number of query rows that are multiplied at once. Their sums, for four keys or four vectors of
// values, must fit into the registers.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int64_t kRows = 2;
#else
constexpr int64_t kRows = 4;
#endif
constexpr int64_t kKeys = 4;

#if HWY_TARGET != HWY_SCALAR
// Adds up the blocks of four lanes of `v`, lane by lane, and stores the four sums.
template <class D>
HWY_INLINE void store_sum_of_blocks(D d, hn::Vec<D> v, float* out) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    store_sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), out);
  }
}
#endif

// Stores the sums of the lanes of `a`, `b`, `c` and `d`.
HWY_INLINE void store_sums(V a, V b, V c, V d, float* out) {
#if HWY_TARGET == HWY_SCALAR
  out[0] = hn::GetLane(hn::SumOfLanes(Tag(), a));
  out[1] = hn::GetLane(hn::SumOfLanes(Tag(), b));
  out[2] = hn::GetLane(hn::SumOfLanes(Tag(), c));
  out[3] = hn::GetLane(hn::SumOfLanes(Tag(), d));
#else
  const Tag tag;
  const hn::Repartition<uint64_t, Tag> pairs;
  // Each block of four lanes of `ab` has partial sums of a, b, a and b. Each block of `blocks` has
  // partial sums of a, b, c and d.
  const V ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const V cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto ab2 = hn::BitCast(pairs, ab);
  const auto cd2 = hn::BitCast(pairs, cd);
  const V blocks = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, ab2, cd2)),
                           hn::BitCast(tag, hn::InterleaveUpper(pairs, ab2, cd2)));
  store_sum_of_blocks(tag, blocks, out);
#endif
}

template <class Elements, int64_t kCount>
HWY_INLINE void multiply_four_keys(const float* queries, int64_t query_stride,
                                   const CacheRows& keys, int64_t first, float* out,
                                   int64_t out_stride) {
  using T = typename Elements::T;
  const Tag d;
  const int64_t last = keys.count - 1;
  const Row<T> rows[kKeys] = {Row<T>(keys, first), Row<T>(keys, std::min(first + 1, last)),
                              Row<T>(keys, std::min(first + 2, last)),
                              Row<T>(keys, std::min(first + 3, last))};
  V sums[kCount][kKeys];
#pragma GCC unroll 4
  for (int64_t r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
    for (int64_t n = 0; n < kKeys; ++n) sums[r][n] = hn::Zero(d);
  }
  const int64_t step = lanes();
  int64_t i = 0;
  for (; i + step <= keys.width; i += step) {
    V x[kKeys];
#pragma GCC unroll 4
    for (int64_t n = 0; n < kKeys; ++n) x[n] = load<Elements>(rows[n].data + i, rows[n].zero_point);
#pragma GCC unroll 4
    for (int64_t r = 0; r < kCount; ++r) {
      const V query = hn::LoadU(d, queries + r * query_stride + i);
#pragma GCC unroll 4
      for (int64_t n = 0; n < kKeys; ++n) sums[r][n] = hn::MulAdd(query, x[n], sums[r][n]);
    }
  }
  if (i < keys.width) {
    const int64_t rest = keys.width - i;
    V x[kKeys];
#pragma GCC unroll 4
    for (int64_t n = 0; n < kKeys; ++n) {
      x[n] = load_tail<Elements>(rows[n].data + i, rest, rows[n].zero_point);
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kCount; ++r) {
      const V query = hn::LoadU(d, queries + r * query_stride + i);
#pragma GCC unroll 4
      for (int64_t n = 0; n < kKeys; ++n) sums[r][n] = hn::MulAdd(query, x[n], sums[r][n]);
    }
  }
#pragma GCC unroll 4
  for (int64_t r = 0; r < kCount; ++r) {
    store_sums(sums[r][0], sums[r][1], sums[r][2], sums[r][3], out + r * out_stride);
  }
}

template <class Elements, int64_t kCount>
HWY_NOINLINE void multiply_all_keys(const float* queries, int64_t query_stride,
                                    const CacheRows& keys, bool is_new, float* scores,
                                    int64_t score_stride) {
  using T = typename Elements::T;
  int64_t first = 0;
  for (; first + kKeys <= keys.count; first += kKeys) {
    if (is_new) {
      const T* const ahead = static_cast<const T*>(keys.data) + (first + kRowsAhead) * keys.stride;
      for (int64_t n = 0; n < kKeys; ++n) prefetch(ahead + n * keys.stride, keys.width);
    }
    multiply_four_keys<Elements, kCount>(queries, query_stride, keys, first, scores + first,
                                         score_stride);
  }
  if (first < keys.count) {
    float sums[kCount * kKeys];
    multiply_four_keys<Elements, kCount>(queries, query_stride, keys, first, sums, kKeys);
    for (int64_t r = 0; r < kCount; ++r) {
      std::copy_n(sums + r * kKeys, keys.count - first, scores + r * score_stride + first);
    }
  }
}

// Calls body with the number of rows, at most kRows, as a compile-time constant.
template <class Body>
HWY_INLINE void with_rows(int64_t count, const Body& body) {
  const auto call = [&]<int64_t kCount>() HWY_ATTR {
    body(std::integral_constant<int64_t, std::min(kCount, kRows)>());
  };
  if (count >= 4) return call.template operator()<4>();
  if (count == 3) return call.template operator()<3>();
  if (count == 2) return call.template operator()<2>();
  call.template operator()<1>();
}

template <class Elements>
void multiply_queries(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores) {
  for (int64_t row = 0; row < queries.count; row += kRows) {
    const float* const from = queries.data + row * queries.stride;
    float* const to = scores.data + row * scores.stride;
    with_rows(queries.count - row, [&](auto count) HWY_ATTR {
      multiply_all_keys<Elements, count()>(from, queries.stride, keys, row == 0, to, scores.stride);
    });
  }
}

// Updates `kVectors` vectors of columns from `column` on, in the sums of `kCount` rows. If kTail is
// true, updates all remaining columns instead.
template <class Elements, int64_t kCount, int64_t kVectors, bool kTail>
HWY_INLINE void add_columns(const float* weights, int64_t weight_stride, const CacheRows& values,
                            const float* factors, float* sums, int64_t sum_stride, int64_t column,
                            bool is_new) {
  using T = typename Elements::T;
  const Tag d;
  const int64_t step = lanes();
  const int64_t rest = values.width - column;
  V added[kCount][kVectors];
#pragma GCC unroll 4
  for (int64_t r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      const float* const from = sums + r * sum_stride + column + v * step;
      added[r][v] = hn::Mul(hn::LoadU(d, from), hn::Set(d, factors[r]));
    }
  }
  for (int64_t n = 0; n < values.count; ++n) {
    const Row<T> row(values, n);
    const T* const from = row.data + column;
    if (is_new) prefetch(from + kRowsAhead * values.stride, kVectors * step);
    V x[kVectors];
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      if constexpr (kTail) {
        x[v] = load_tail<Elements>(from, rest, row.zero_point);
      } else {
        x[v] = load<Elements>(from + v * step, row.zero_point);
      }
    }
#pragma GCC unroll 4
    for (int64_t r = 0; r < kCount; ++r) {
      const V weight = hn::Set(d, weights[r * weight_stride + n]);
#pragma GCC unroll 4
      for (int64_t v = 0; v < kVectors; ++v) added[r][v] = hn::MulAdd(weight, x[v], added[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int64_t r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kVectors; ++v) {
      hn::StoreU(added[r][v], d, sums + r * sum_stride + column + v * step);
    }
  }
}

template <class Elements, int64_t kCount>
HWY_NOINLINE void add_all_columns(const float* weights, int64_t weight_stride,
                                  const CacheRows& values, const float* factors, float* sums,
                                  int64_t sum_stride, bool is_new) {
  const int64_t step = lanes();
  int64_t column = 0;
  for (; column + 4 * step <= values.width; column += 4 * step) {
    add_columns<Elements, kCount, 4, false>(weights, weight_stride, values, factors, sums,
                                            sum_stride, column, is_new);
  }
  if (column + 2 * step <= values.width) {
    add_columns<Elements, kCount, 2, false>(weights, weight_stride, values, factors, sums,
                                            sum_stride, column, is_new);
    column += 2 * step;
  }
  if (column + step <= values.width) {
    add_columns<Elements, kCount, 1, false>(weights, weight_stride, values, factors, sums,
                                            sum_stride, column, is_new);
    column += step;
  }
  if (column < values.width) {
    add_columns<Elements, kCount, 1, true>(weights, weight_stride, values, factors, sums,
                                           sum_stride, column, is_new);
  }
}

template <class Elements>
void add_weighted(const FloatRows& weights, const CacheRows& values, const float* factors,
                  const FloatRows& sums) {
  for (int64_t row = 0; row < weights.count; row += kRows) {
    const float* const from = weights.data + row * weights.stride;
    float* const to = sums.data + row * sums.stride;
    with_rows(weights.count - row, [&](auto count) HWY_ATTR {
      add_all_columns<Elements, count()>(from, weights.stride, values, factors + row, to,
                                         sums.stride, row == 0);
    });
  }
}

template <class Body>
HWY_INLINE void with_elements(ScalarType dtype, const Body& body) {
  switch (dtype) {
    case ScalarType::kHalf:
      return body(HalfElements());
    case ScalarType::kBFloat16:
      return body(BFloat16Elements());
    case ScalarType::kChar:
      return body(CharElements());
    default:
      return body(FloatElements());
  }
}

void MultiplyKeys(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores) {
  with_elements(keys.dtype, [&]<class Elements>(Elements)
                                HWY_ATTR { multiply_queries<Elements>(queries, keys, scores); });
}

void AddValues(const FloatRows& weights, const CacheRows& values, const float* factors,
               const FloatRows& sums) {
  with_elements(values.dtype, [&]<class Elements>(Elements) HWY_ATTR {
    add_weighted<Elements>(weights, values, factors, sums);
  });
}

float Weigh(float* scores, const float* mask, int64_t count, int64_t padded_count,
            RunningSoftmax& softmax) {
  const Tag d;
  const int64_t step = lanes();
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  V largest_lanes = hn::Set(d, softmax.largest);
  for (int64_t n = 0; n < count; n += step) {
    V score = load_part(d, scores + n, count - n);
    if (mask != nullptr) {
      score = hn::Add(score, load_part(d, mask + n, count - n));
      store_part(score, d, scores + n, count - n);
    }
    // load_part() sets the lanes beyond `count` to zero. These zeros must not change the maximum.
    if (count - n < step) {
      score = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count - n)), score, largest_lanes);
    }
    largest_lanes = hn::Max(largest_lanes, score);
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, largest_lanes));
  const bool all_masked = largest == kNever;
  // If all keys are masked, the shift is 0, so that scores stay minus infinity and weights become
  // zero.
  const V shift = hn::Set(d, all_masked ? 0.0F : largest);
  V total = hn::Zero(d);
  for (int64_t n = 0; n < count; n += step) {
    const V score = load_part(d, scores + n, count - n);
    V weight = exponential_of_negative(d, hn::Sub(score, shift));
    if (count - n < step) {
      weight = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - n)), weight);
    }
    total = hn::Add(total, weight);
    store_part(weight, d, scores + n, count - n);
  }
  std::fill(scores + count, scores + padded_count, 0.0F);
  const float factor = all_masked ? 1.0F : std::exp(softmax.largest - largest);
  softmax.total = softmax.total * factor + hn::GetLane(hn::SumOfLanes(d, total));
  softmax.largest = largest;
  return factor;
}

HWY_INLINE void weigh_some_columns(float* scores, int64_t stride, int64_t count, V visible,
                                   RunningSoftmax* softmax, float* factors) {
  static_assert(sizeof(RunningSoftmax) == 2 * sizeof(float));
  const Tag d;
  auto* const running = reinterpret_cast<float*>(softmax);
  V before, total;
  hn::LoadInterleaved2(d, running, before, total);
  const V never = hn::Set(d, -std::numeric_limits<float>::infinity());
  const bool all_visible = hn::AllTrue(d, hn::Ge(visible, hn::Set(d, static_cast<float>(count))));
  V largest = before;
  for (int64_t n = 0; n < count; ++n) {
    V score = hn::LoadU(d, scores + n * stride);
    if (!all_visible) {
      score = hn::IfThenElse(hn::Lt(hn::Set(d, static_cast<float>(n)), visible), score, never);
      hn::StoreU(score, d, scores + n * stride);
    }
    largest = hn::Max(largest, score);
  }
  const auto all_masked = hn::Eq(largest, never);
  const V shift = hn::IfThenZeroElse(all_masked, largest);
  V added = hn::Zero(d);
  for (int64_t n = 0; n < count; ++n) {
    const V score = hn::LoadU(d, scores + n * stride);
    const V weight = exponential_of_negative(d, hn::Sub(score, shift));
    added = hn::Add(added, weight);
    hn::StoreU(weight, d, scores + n * stride);
  }
  const V factor = hn::IfThenElse(all_masked, hn::Set(d, 1.0F),
                                  exponential_of_negative(d, hn::Sub(before, shift)));
  hn::StoreU(factor, d, factors);
  hn::StoreInterleaved2(largest, hn::MulAdd(total, factor, added), d, running);
}

void WeighColumns(float* scores, int64_t rows, int64_t count, const float* visible,
                  RunningSoftmax* softmax, float* factors) {
  for (int64_t r = 0; r < rows; r += lanes()) {
    weigh_some_columns(scores + r, rows, count, hn::LoadU(Tag(), visible + r), softmax + r,
                       factors + r);
  }
}

int64_t AttentionLanes() { return lanes(); }

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(AttentionLanes);
VITRINE_EXPORT(MultiplyKeys);
VITRINE_EXPORT(AddValues);
VITRINE_EXPORT(Weigh);
VITRINE_EXPORT(WeighColumns);

int64_t attention_lanes() { return VITRINE_DISPATCH(AttentionLanes)(); }
void multiply_keys(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores) {
  VITRINE_DISPATCH(MultiplyKeys)(queries, keys, scores);
}
void add_values(const FloatRows& weights, const CacheRows& values, const float* factors,
                const FloatRows& sums) {
  VITRINE_DISPATCH(AddValues)(weights, values, factors, sums);
}
float weigh(float* scores, const float* mask, int64_t count, int64_t padded_count,
            RunningSoftmax& softmax) {
  return VITRINE_DISPATCH(Weigh)(scores, mask, count, padded_count, softmax);
}
void weigh_columns(float* scores, int64_t rows, int64_t count, const float* visible,
                   RunningSoftmax* softmax, float* factors) {
  VITRINE_DISPATCH(WeighColumns)(scores, rows, count, visible, softmax, factors);
}

}  // namespace vitrine::optimized::simd
#endif
