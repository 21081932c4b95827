#include "kernels/optimized/simd/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/attention.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/cache_rows-inl.h"
#include "kernels/optimized/simd/dispatch.h"
#include "kernels/optimized/simd/math-inl.h"
#include "kernels/optimized/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of queries that are multiplied at once: their sums with four keys, or over four vectors of
// values, must fit the registers.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
constexpr int64_t kRows = 2;
#else
constexpr int64_t kRows = 4;
#endif
constexpr int64_t kKeys = 4;

#if !HWY_HAVE_SCALABLE && HWY_TARGET != HWY_SCALAR
// out[i] = the sum of lane i of all blocks of four lanes.
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

// The sums of the lanes of each.
HWY_INLINE void store_sums(V a, V b, V c, V d, float* out) {
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
  out[0] = hn::GetLane(hn::SumOfLanes(Tag(), a));
  out[1] = hn::GetLane(hn::SumOfLanes(Tag(), b));
  out[2] = hn::GetLane(hn::SumOfLanes(Tag(), c));
  out[3] = hn::GetLane(hn::SumOfLanes(Tag(), d));
#else
  const Tag tag;
  const hn::Repartition<uint64_t, Tag> pairs;
  // In each block of four lanes: a, b, a, b; then a, b, c, d.
  const V ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const V cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto ab2 = hn::BitCast(pairs, ab);
  const auto cd2 = hn::BitCast(pairs, cd);
  const V blocks = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, ab2, cd2)),
                           hn::BitCast(tag, hn::InterleaveUpper(pairs, ab2, cd2)));
  store_sum_of_blocks(tag, blocks, out);
#endif
}

// Four keys with `kCount` queries.
template <class Elements, int64_t kCount>
HWY_INLINE void multiply_four_keys(const float* queries, int64_t query_stride,
                                   const CacheRows& keys, int64_t first, float* out,
                                   int64_t out_stride) {
  using T = typename Elements::T;
  const Tag d;
  const int64_t last = keys.count - 1;
  const Row<T> k0(keys, first);
  const Row<T> k1(keys, std::min(first + 1, last));
  const Row<T> k2(keys, std::min(first + 2, last));
  const Row<T> k3(keys, std::min(first + 3, last));
  const float* const q0 = queries;
  const float* const q1 = queries + (kCount > 1 ? query_stride : 0);
  const float* const q2 = queries + (kCount > 2 ? 2 * query_stride : 0);
  const float* const q3 = queries + (kCount > 3 ? 3 * query_stride : 0);
  const V zero = hn::Zero(d);
  V s00 = zero, s01 = zero, s02 = zero, s03 = zero;
  V s10 = zero, s11 = zero, s12 = zero, s13 = zero;
  V s20 = zero, s21 = zero, s22 = zero, s23 = zero;
  V s30 = zero, s31 = zero, s32 = zero, s33 = zero;
#define VITRINE_QUERY(row)                        \
  if constexpr (kCount > row) {                   \
    const V query = hn::LoadU(d, q##row + i);     \
    s##row##0 = hn::MulAdd(query, x0, s##row##0); \
    s##row##1 = hn::MulAdd(query, x1, s##row##1); \
    s##row##2 = hn::MulAdd(query, x2, s##row##2); \
    s##row##3 = hn::MulAdd(query, x3, s##row##3); \
  }
#define VITRINE_QUERIES \
  VITRINE_QUERY(0)      \
  VITRINE_QUERY(1)      \
  VITRINE_QUERY(2)      \
  VITRINE_QUERY(3)
  const int64_t step = lanes();
  int64_t i = 0;
  for (; i + step <= keys.width; i += step) {
    const V x0 = load<Elements>(k0.data + i, k0.zero_point);
    const V x1 = load<Elements>(k1.data + i, k1.zero_point);
    const V x2 = load<Elements>(k2.data + i, k2.zero_point);
    const V x3 = load<Elements>(k3.data + i, k3.zero_point);
    VITRINE_QUERIES
  }
  if (i < keys.width) {
    const int64_t rest = keys.width - i;
    const V x0 = load_tail<Elements>(k0.data + i, rest, k0.zero_point);
    const V x1 = load_tail<Elements>(k1.data + i, rest, k1.zero_point);
    const V x2 = load_tail<Elements>(k2.data + i, rest, k2.zero_point);
    const V x3 = load_tail<Elements>(k3.data + i, rest, k3.zero_point);
    VITRINE_QUERIES
  }
#undef VITRINE_QUERIES
#undef VITRINE_QUERY
  store_sums(s00, s01, s02, s03, out);
  if constexpr (kCount > 1) store_sums(s10, s11, s12, s13, out + out_stride);
  if constexpr (kCount > 2) store_sums(s20, s21, s22, s23, out + 2 * out_stride);
  if constexpr (kCount > 3) store_sums(s30, s31, s32, s33, out + 3 * out_stride);
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
  if (keys.scales == nullptr) return;
  for (int64_t r = 0; r < kCount; ++r) {
    for (int64_t n = 0; n < keys.count; ++n) {
      scores[r * score_stride + n] *= keys.scales[n * keys.parameter_stride];
    }
  }
}

template <class Elements>
void multiply_queries(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores) {
  for (int64_t row = 0; row < queries.count; row += kRows) {
    const float* const from = queries.data + row * queries.stride;
    float* const to = scores.data + row * scores.stride;
    switch (std::min(kRows, queries.count - row)) {
      case 4:
        multiply_all_keys<Elements, std::min<int64_t>(4, kRows)>(from, queries.stride, keys,
                                                                 row == 0, to, scores.stride);
        break;
      case 3:
        multiply_all_keys<Elements, std::min<int64_t>(3, kRows)>(from, queries.stride, keys,
                                                                 row == 0, to, scores.stride);
        break;
      case 2:
        multiply_all_keys<Elements, 2>(from, queries.stride, keys, row == 0, to, scores.stride);
        break;
      default:
        multiply_all_keys<Elements, 1>(from, queries.stride, keys, row == 0, to, scores.stride);
    }
  }
}

// Columns column .. column + kVectors * lanes of the sums of `kCount` rows; of a tail, what is left
// of the width.
template <class Elements, int64_t kCount, int64_t kVectors, bool kTail>
HWY_INLINE void add_columns(const float* weights, int64_t weight_stride, const CacheRows& values,
                            const float* factors, float* sums, int64_t sum_stride, int64_t column,
                            bool is_new) {
  using T = typename Elements::T;
  const Tag d;
  const int64_t step = lanes();
  const int64_t rest = values.width - column;
#define VITRINE_START(row)                                                          \
  const float factor##row = kCount > row ? factors[row] : 0.0F;                     \
  float* const to##row = sums + (kCount > row ? row * sum_stride : 0) + column;     \
  V s##row##0 = hn::Mul(hn::LoadU(d, to##row), hn::Set(d, factor##row));            \
  V s##row##1 = s##row##0, s##row##2 = s##row##0, s##row##3 = s##row##0;            \
  if constexpr (kVectors > 1) {                                                     \
    s##row##1 = hn::Mul(hn::LoadU(d, to##row + step), hn::Set(d, factor##row));     \
  }                                                                                 \
  if constexpr (kVectors > 2) {                                                     \
    s##row##2 = hn::Mul(hn::LoadU(d, to##row + 2 * step), hn::Set(d, factor##row)); \
    s##row##3 = hn::Mul(hn::LoadU(d, to##row + 3 * step), hn::Set(d, factor##row)); \
  }
  VITRINE_START(0)
  VITRINE_START(1)
  VITRINE_START(2)
  VITRINE_START(3)
#undef VITRINE_START
  for (int64_t n = 0; n < values.count; ++n) {
    const Row<T> row(values, n);
    const T* const from = row.data + column;
    if (is_new) prefetch(from + kRowsAhead * values.stride, kVectors * step);
    const float scale =
        values.scales == nullptr ? 1.0F : values.scales[n * values.parameter_stride];
    V x0 = hn::Zero(d);
    if constexpr (kTail) {
      x0 = load_tail<Elements>(from, rest, row.zero_point);
    } else {
      x0 = load<Elements>(from, row.zero_point);
    }
    V x1 = x0, x2 = x0, x3 = x0;
    if constexpr (kVectors > 1) x1 = load<Elements>(from + step, row.zero_point);
    if constexpr (kVectors > 2) {
      x2 = load<Elements>(from + 2 * step, row.zero_point);
      x3 = load<Elements>(from + 3 * step, row.zero_point);
    }
#define VITRINE_ADD(row)                                                       \
  if constexpr (kCount > row) {                                                \
    const V weight = hn::Set(d, weights[row * weight_stride + n] * scale);     \
    s##row##0 = hn::MulAdd(weight, x0, s##row##0);                             \
    if constexpr (kVectors > 1) s##row##1 = hn::MulAdd(weight, x1, s##row##1); \
    if constexpr (kVectors > 2) {                                              \
      s##row##2 = hn::MulAdd(weight, x2, s##row##2);                           \
      s##row##3 = hn::MulAdd(weight, x3, s##row##3);                           \
    }                                                                          \
  }
    VITRINE_ADD(0)
    VITRINE_ADD(1)
    VITRINE_ADD(2)
    VITRINE_ADD(3)
#undef VITRINE_ADD
  }
#define VITRINE_STORE(row)                                                \
  if constexpr (kCount > row) {                                           \
    hn::StoreU(s##row##0, d, to##row);                                    \
    if constexpr (kVectors > 1) hn::StoreU(s##row##1, d, to##row + step); \
    if constexpr (kVectors > 2) {                                         \
      hn::StoreU(s##row##2, d, to##row + 2 * step);                       \
      hn::StoreU(s##row##3, d, to##row + 3 * step);                       \
    }                                                                     \
  }
  VITRINE_STORE(0)
  VITRINE_STORE(1)
  VITRINE_STORE(2)
  VITRINE_STORE(3)
#undef VITRINE_STORE
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
    switch (std::min(kRows, weights.count - row)) {
      case 4:
        add_all_columns<Elements, std::min<int64_t>(4, kRows)>(
            from, weights.stride, values, factors + row, to, sums.stride, row == 0);
        break;
      case 3:
        add_all_columns<Elements, std::min<int64_t>(3, kRows)>(
            from, weights.stride, values, factors + row, to, sums.stride, row == 0);
        break;
      case 2:
        add_all_columns<Elements, 2>(from, weights.stride, values, factors + row, to, sums.stride,
                                     row == 0);
        break;
      default:
        add_all_columns<Elements, 1>(from, weights.stride, values, factors + row, to, sums.stride,
                                     row == 0);
    }
  }
}

void MultiplyKeys(const FloatRows& queries, const CacheRows& keys, const FloatRows& scores) {
  switch (keys.dtype) {
    case ScalarType::kHalf:
      return multiply_queries<HalfElements>(queries, keys, scores);
    case ScalarType::kBFloat16:
      return multiply_queries<BFloat16Elements>(queries, keys, scores);
    case ScalarType::kChar:
      return multiply_queries<CharElements>(queries, keys, scores);
    default:
      return multiply_queries<FloatElements>(queries, keys, scores);
  }
}

void AddValues(const FloatRows& weights, const CacheRows& values, const float* factors,
               const FloatRows& sums) {
  switch (values.dtype) {
    case ScalarType::kHalf:
      return add_weighted<HalfElements>(weights, values, factors, sums);
    case ScalarType::kBFloat16:
      return add_weighted<BFloat16Elements>(weights, values, factors, sums);
    case ScalarType::kChar:
      return add_weighted<CharElements>(weights, values, factors, sums);
    default:
      return add_weighted<FloatElements>(weights, values, factors, sums);
  }
}

float Weigh(float* scores, const float* mask, int64_t count, int64_t all, RunningSoftmax& softmax) {
  const Tag d;
  const int64_t step = lanes();
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  V most = hn::Set(d, softmax.largest);
  for (int64_t n = 0; n < count; n += step) {
    V score = load_part(d, scores + n, count - n);
    if (mask != nullptr) {
      score = hn::Add(score, load_part(d, mask + n, count - n));
      store_part(score, d, scores + n, count - n);
    }
    // The last lanes that are not there are zero.
    if (count - n < step) {
      score = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count - n)), score, most);
    }
    most = hn::Max(most, score);
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  const bool nothing = largest == kNever;
  // Where all is masked, scores stay minus infinity, and weights become zero.
  const V shift = hn::Set(d, nothing ? 0.0F : largest);
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
  std::fill(scores + count, scores + all, 0.0F);
  const float factor = nothing ? 1.0F : std::exp(softmax.largest - largest);
  softmax.total = softmax.total * factor + hn::GetLane(hn::SumOfLanes(d, total));
  softmax.largest = largest;
  return factor;
}

// One vector of columns.
HWY_INLINE void weigh_some_columns(float* scores, int64_t stride, int64_t count, V seen,
                                   RunningSoftmax* softmax, float* factors) {
  static_assert(sizeof(RunningSoftmax) == 2 * sizeof(float));
  const Tag d;
  auto* const running = reinterpret_cast<float*>(softmax);
  V before, total;
  hn::LoadInterleaved2(d, running, before, total);
  const V never = hn::Set(d, -std::numeric_limits<float>::infinity());
  const bool sees_all = hn::AllTrue(d, hn::Ge(seen, hn::Set(d, static_cast<float>(count))));
  V largest = before;
  for (int64_t n = 0; n < count; ++n) {
    V score = hn::LoadU(d, scores + n * stride);
    if (!sees_all) {
      score = hn::IfThenElse(hn::Lt(hn::Set(d, static_cast<float>(n)), seen), score, never);
      hn::StoreU(score, d, scores + n * stride);
    }
    largest = hn::Max(largest, score);
  }
  // Where all is masked, scores stay minus infinity, and weights become zero.
  const auto nothing = hn::Eq(largest, never);
  const V shift = hn::IfThenZeroElse(nothing, largest);
  V more = hn::Zero(d);
  for (int64_t n = 0; n < count; ++n) {
    const V score = hn::LoadU(d, scores + n * stride);
    const V weight = exponential_of_negative(d, hn::Sub(score, shift));
    more = hn::Add(more, weight);
    hn::StoreU(weight, d, scores + n * stride);
  }
  const V factor =
      hn::IfThenElse(nothing, hn::Set(d, 1.0F), exponential_of_negative(d, hn::Sub(before, shift)));
  hn::StoreU(factor, d, factors);
  hn::StoreInterleaved2(largest, hn::MulAdd(total, factor, more), d, running);
}

void WeighColumns(float* scores, int64_t rows, int64_t count, const float* seen,
                  RunningSoftmax* softmax, float* factors) {
  for (int64_t r = 0; r < rows; r += lanes()) {
    weigh_some_columns(scores + r, rows, count, hn::LoadU(Tag(), seen + r), softmax + r,
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
float weigh(float* scores, const float* mask, int64_t count, int64_t all, RunningSoftmax& softmax) {
  return VITRINE_DISPATCH(Weigh)(scores, mask, count, all, softmax);
}
void weigh_columns(float* scores, int64_t rows, int64_t count, const float* seen,
                   RunningSoftmax* softmax, float* factors) {
  VITRINE_DISPATCH(WeighColumns)(scores, rows, count, seen, softmax, factors);
}

}  // namespace vitrine::optimized::simd
#endif
