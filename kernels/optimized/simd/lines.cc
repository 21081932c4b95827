#include "kernels/optimized/simd/lines.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/lines.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/math-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

constexpr int64_t kBlock = 4096;  // number of elements that are summed in float

HWY_INLINE V load_or(Tag d, const float* from, int64_t count, V otherwise) {
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  const auto mask = hn::FirstN(d, static_cast<size_t>(count));
  return hn::IfThenElse(mask, load_part(d, from, count), otherwise);
}

// Sums at most kBlock elements in float. The sum of the lanes of the result is the sum.
template <class Term>
HWY_INLINE V sum_lanes(const float* values, int64_t count, const Term& term) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (kHasMasks && count <= lanes) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count));
    return hn::IfThenElseZero(mask, term(load_part(d, values, count)));
  }
  V s0 = hn::Zero(d);
  V s1 = s0;
  V s2 = s0;
  V s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    s0 = hn::Add(s0, term(hn::LoadU(d, values + i)));
    s1 = hn::Add(s1, term(hn::LoadU(d, values + i + lanes)));
    s2 = hn::Add(s2, term(hn::LoadU(d, values + i + 2 * lanes)));
    s3 = hn::Add(s3, term(hn::LoadU(d, values + i + 3 * lanes)));
  }
  for (; i + lanes <= count; i += lanes) s0 = hn::Add(s0, term(hn::LoadU(d, values + i)));
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count - i));
    s1 = hn::Add(s1, hn::IfThenElseZero(mask, term(load_part(d, values + i, count - i))));
  }
  return hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
}

template <class Term>
HWY_INLINE double sum_of(const float* values, int64_t count, const Term& term) {
  double total = 0;
  for (int64_t start = 0; start < count; start += kBlock) {
    const V sums = sum_lanes(values + start, std::min(count - start, kBlock), term);
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(Tag(), sums)));
  }
  return total;
}

double Sum(const float* values, int64_t count) {
  return sum_of(values, count, [](V x) HWY_ATTR { return x; });
}

#if HWY_TARGET != HWY_SCALAR
// Adds the blocks of four lanes.
template <class D>
HWY_INLINE auto sum_of_blocks(D d, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(d) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

void Sums(const float* values, int64_t lines, int64_t count, double divisor, float* out) {
  int64_t line = 0;
#if HWY_TARGET != HWY_SCALAR
  const Tag d;
  const hn::Repartition<uint64_t, Tag> d64;
  const hn::CappedTag<float, 4> d4;
  const auto divisors = hn::Set(d4, static_cast<float>(divisor));
  for (; count <= kBlock && line + 4 <= lines; line += 4) {
    V s[4];
#pragma GCC unroll 1
    for (int k = 0; k < 4; ++k) {
      s[k] = sum_lanes(values + (line + k) * count, count, [](V x) HWY_ATTR { return x; });
    }
    const auto first = hn::BitCast(
        d64, hn::Add(hn::InterleaveLower(d, s[0], s[1]), hn::InterleaveUpper(d, s[0], s[1])));
    const auto second = hn::BitCast(
        d64, hn::Add(hn::InterleaveLower(d, s[2], s[3]), hn::InterleaveUpper(d, s[2], s[3])));
    const V all = hn::Add(hn::BitCast(d, hn::InterleaveLower(d64, first, second)),
                          hn::BitCast(d, hn::InterleaveUpper(d64, first, second)));
    hn::StoreU(hn::Div(sum_of_blocks(d, all), divisors), d4, out + line);
  }
#endif
  for (; line < lines; ++line) {
    out[line] = static_cast<float>(Sum(values + line * count, count) / divisor);
  }
}

double SquaredDistance(const float* values, float center, int64_t count) {
  const V middle = hn::Set(Tag(), center);
  return sum_of(values, count, [middle](V x) HWY_ATTR {
    const V distance = hn::Sub(x, middle);
    return hn::Mul(distance, distance);
  });
}

void Statistics(const float* values, int64_t lines, int64_t count, int64_t parts, int64_t stride,
                double epsilon, float* mean, float* rstd) {
  const double share = 1.0 / (static_cast<double>(count) * static_cast<double>(parts));
  const Tag d;
  if (kHasMasks && parts == 1 && count <= static_cast<int64_t>(hn::Lanes(d))) {
    const auto mask = hn::FirstN(d, static_cast<size_t>(count));
    for (int64_t line = 0; line < lines; ++line) {
      const V x = load_part(d, values + line * count, count);
      mean[line] =
          static_cast<float>(static_cast<double>(hn::GetLane(hn::SumOfLanes(d, x))) * share);
    }
    for (int64_t line = 0; line < lines; ++line) {
      const V x = load_part(d, values + line * count, count);
      const V distance = hn::IfThenElseZero(mask, hn::Sub(x, hn::Set(d, mean[line])));
      const auto squares =
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Mul(distance, distance))));
      rstd[line] = static_cast<float>(1.0 / std::sqrt(squares * share + epsilon));
    }
    return;
  }
  for (int64_t line = 0; line < lines; ++line) {
    double sum = 0;
    for (int64_t i = 0; i < parts; ++i) sum += Sum(values + line * count + i * stride, count);
    mean[line] = static_cast<float>(sum * share);
  }
  for (int64_t line = 0; line < lines; ++line) {
    double squares = 0;
    for (int64_t i = 0; i < parts; ++i) {
      squares += SquaredDistance(values + line * count + i * stride, mean[line], count);
    }
    rstd[line] = static_cast<float>(1.0 / std::sqrt(squares * share + epsilon));
  }
}

// Reduces the line to one vector with `choose`, such as Max. If the line contains NaN, at least one
// lane of the result is NaN. A line with infinity and -infinity can also cause a NaN.
template <class Choose>
HWY_INLINE V chosen_lanes(const float* values, int64_t count, float start, const Choose& choose) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V first = hn::Set(d, start);
  V best0 = first;
  V best1 = first;
  V nan = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const V x = hn::LoadU(d, values + i);
    const V y = hn::LoadU(d, values + i + lanes);
    best0 = choose(best0, x);
    best1 = choose(best1, y);
    nan = keep_nan(hn::Add(x, y), nan);  // also for infinity - infinity; extremum() checks
  }
  for (; i < count; i += lanes) {
    const V x = load_or(d, values + i, count - i, hn::Set(d, values[i]));
    best0 = choose(best0, x);
    nan = keep_nan(x, nan);
  }
  return keep_nan(nan, choose(best0, best1));
}

HWY_INLINE float plain_extremum(const float* values, int64_t count, bool high) {
  float best = values[0];
  for (int64_t i = 1; i < count && !std::isnan(best); ++i) {
    const bool better = high ? values[i] > best : values[i] < best;
    if (better || std::isnan(values[i])) best = values[i];
  }
  return best;
}

template <bool high>
HWY_INLINE float extremum(const float* values, int64_t count) {
  const Tag d;
  const V lanes = chosen_lanes(values, count, values[0], [](V a, V b) HWY_ATTR {
    if constexpr (high) return hn::Max(a, b);
    return hn::Min(a, b);
  });
  if (!hn::AllFalse(d, hn::IsNaN(lanes))) return plain_extremum(values, count, high);
  if constexpr (high) return hn::GetLane(hn::MaxOfLanes(d, lanes));
  return hn::GetLane(hn::MinOfLanes(d, lanes));
}

float Largest(const float* values, int64_t count) { return extremum<true>(values, count); }
float Smallest(const float* values, int64_t count) { return extremum<false>(values, count); }

int64_t FindFirst(const float* values, float value, int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V wanted = hn::Set(d, value);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V x = hn::LoadU(d, values + i);
    const auto found = value == value ? hn::Eq(x, wanted) : hn::IsNaN(x);
    if (!hn::AllFalse(d, found)) return i + static_cast<int64_t>(hn::FindFirstTrue(d, found));
  }
  for (; i < count; ++i) {
    if (values[i] == value || (value != value && values[i] != values[i])) return i;
  }
  return count;
}

// Returns the maximum that softmax subtracts. If the line contains NaN, the result may be any
// element, because the softmax is NaN anyway.
HWY_NOINLINE float largest_number(const float* in, int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V first = hn::Set(d, in[0]);
  V best0 = first;
  V best1 = first;
  V best2 = first;
  V best3 = first;
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    best0 = hn::Max(best0, hn::LoadU(d, in + i));
    best1 = hn::Max(best1, hn::LoadU(d, in + i + lanes));
    best2 = hn::Max(best2, hn::LoadU(d, in + i + 2 * lanes));
    best3 = hn::Max(best3, hn::LoadU(d, in + i + 3 * lanes));
  }
  for (; i < count; i += lanes) best0 = hn::Max(best0, load_or(d, in + i, count - i, first));
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(best0, best1), hn::Max(best2, best3))));
}

// Lanes beyond the end of a line have this value, because exp(-infinity) is 0.
HWY_INLINE V minus_infinity() { return hn::Set(Tag(), -std::numeric_limits<float>::infinity()); }

// Returns the sum of exp(in - line_max). Writes the terms to `out` unless `out` is null.
HWY_NOINLINE double sum_of_exponentials(const float* in, float line_max, float* out,
                                        int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V shift = hn::Set(d, line_max);
  double total = 0;
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t end = std::min(count, start + kBlock);
    V sum = hn::Zero(d);
    V second_sum = sum;
    int64_t i = start;
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      const V first = exponential_of_negative_number(d, hn::Sub(hn::LoadU(d, in + i), shift));
      const V second =
          exponential_of_negative_number(d, hn::Sub(hn::LoadU(d, in + i + lanes), shift));
      sum = hn::Add(sum, first);
      second_sum = hn::Add(second_sum, second);
      if (out == nullptr) continue;
      hn::StoreU(first, d, out + i);
      hn::StoreU(second, d, out + i + lanes);
    }
    for (; i < end; i += lanes) {
      const V x = load_or(d, in + i, end - i, minus_infinity());
      const V power = exponential_of_negative_number(d, hn::Sub(x, shift));
      sum = hn::Add(sum, power);
      if (out != nullptr) store_part(power, d, out + i, end - i);
    }
    total += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, second_sum))));
  }
  return total;
}

HWY_NOINLINE void softmax_line(const float* in, float* out, int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const double total = sum_of_exponentials(in, largest_number(in, count), out, count);
  const V scale = hn::Set(d, static_cast<float>(1.0 / total));
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const V first = hn::Mul(hn::LoadU(d, out + i), scale);
    const V second = hn::Mul(hn::LoadU(d, out + i + lanes), scale);
    hn::StoreU(first, d, out + i);
    hn::StoreU(second, d, out + i + lanes);
  }
  for (; i < count; i += lanes) {
    store_part(hn::Mul(load_or(d, out + i, count - i, scale), scale), d, out + i, count - i);
  }
}

// Computes a line of at most `n` vectors, which stays in registers.
template <int n>
HWY_INLINE void softmax_short_line(const float* in, float* out, int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V x[n];
  V line_max = minus_infinity();
  for (int k = 0; k < n; ++k) {
    const int64_t rest = count - k * lanes;
    x[k] = rest > 0 ? load_or(d, in + k * lanes, rest, minus_infinity()) : minus_infinity();
    line_max = hn::Max(line_max, x[k]);
  }
  line_max = hn::MaxOfLanes(d, line_max);
  V total = hn::Zero(d);
  for (V& lane_values : x) {
    lane_values = exponential_of_negative_number(d, hn::Sub(lane_values, line_max));
    total = hn::Add(total, lane_values);
  }
  const V scale = hn::Set(d, 1.0F / hn::GetLane(hn::SumOfLanes(d, total)));
  for (int k = 0; k < n; ++k) {
    store_part(hn::Mul(x[k], scale), d, out + k * lanes, count - k * lanes);
  }
}

void Softmax(const float* in, float* out, int64_t lines, int64_t count) {
  [[maybe_unused]] const auto lanes = static_cast<int64_t>(hn::Lanes(Tag()));  // without masks
  for (int64_t i = 0; i < lines; ++i, in += count, out += count) {
    if (kHasMasks && count <= lanes) {
      softmax_short_line<1>(in, out, count);
    } else if (kHasMasks && count <= 2 * lanes) {
      softmax_short_line<2>(in, out, count);
    } else if (kHasMasks && count <= 4 * lanes) {
      softmax_short_line<4>(in, out, count);
    } else {
      softmax_line(in, out, count);
    }
  }
}

void LogSoftmax(const float* in, float* out, int64_t lines, int64_t count) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t line = 0; line < lines; ++line, in += count, out += count) {
    const float line_max = largest_number(in, count);
    const V shift = hn::Set(d, line_max);
    const double total = sum_of_exponentials(in, line_max, nullptr, count);
    const V logarithm = hn::Set(d, static_cast<float>(std::log(total)));
    for (int64_t i = 0; i < count; i += lanes) {
      const V x = load_or(d, in + i, count - i, shift);
      store_part(hn::Sub(hn::Sub(x, shift), logarithm), d, out + i, count - i);
    }
  }
}

// Computes a vector of columns at a time. Separate sums of blocks of kRows rows reduce rounding
// errors.
template <bool logarithm>
HWY_INLINE void softmax_of_columns(const float* in, float* out, int64_t rows, int64_t stride,
                                   int64_t count) {
  constexpr int64_t kRows = 16;
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t c = 0; c < count; c += lanes, in += lanes, out += lanes) {
    const int64_t rest = count - c;
    V shift = minus_infinity();
    for (int64_t r = 0; r < rows; ++r) {
      shift = hn::Max(shift, load_or(d, in + r * stride, rest, shift));
    }
    V total = hn::Zero(d);
    for (int64_t start = 0; start < rows; start += kRows) {
      V sum = hn::Zero(d);
      for (int64_t r = start; r < std::min(rows, start + kRows); ++r) {
        const V x = hn::Sub(load_or(d, in + r * stride, rest, shift), shift);
        const V term = exponential_of_negative_number(d, x);
        sum = hn::Add(sum, term);
        store_part(logarithm ? x : term, d, out + r * stride, rest);
      }
      total = hn::Add(total, sum);
    }
    if (logarithm) {
      HWY_ALIGN float logarithms[HWY_MAX_BYTES / sizeof(float)];
      hn::Store(total, d, logarithms);
      for (int64_t i = 0; i < lanes; ++i) logarithms[i] = std::log(logarithms[i]);
      total = hn::Load(d, logarithms);
    } else {
      total = hn::Div(hn::Set(d, 1.0F), total);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const V x = load_or(d, out + r * stride, rest, shift);
      store_part(logarithm ? hn::Sub(x, total) : hn::Mul(x, total), d, out + r * stride, rest);
    }
  }
}

void SoftmaxColumns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count) {
  softmax_of_columns<false>(in, out, rows, stride, count);
}
void LogSoftmaxColumns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count) {
  softmax_of_columns<true>(in, out, rows, stride, count);
}

void Normalize(const float* in, int64_t lines, int64_t count, double epsilon, const float* weight,
               const float* bias, float* out, float* mean, float* rstd) {
  const Tag d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t block = lines_at_once(count);
  float means[kMaxLinesAtOnce];  // `mean` and `rstd` may share memory
  float rstds[kMaxLinesAtOnce];
  for (int64_t line = 0; line < lines; ++line, in += count, out += count) {
    const int64_t item = line % block;
    if (item == 0) {
      Statistics(in, std::min(block, lines - line), count, 1, 0, epsilon, means, rstds);
    }
    mean[line] = means[item];
    rstd[line] = rstds[item];
    const V center = hn::Set(d, means[item]);
    const V scale = hn::Set(d, rstds[item]);
    for (int64_t i = 0; i < count; i += lanes) {
      const int64_t rest = count - i;
      V x = hn::Mul(hn::Sub(load_part(d, in + i, rest), center), scale);
      if (weight != nullptr) x = hn::Mul(x, load_part(d, weight + i, rest));
      if (bias != nullptr) x = hn::Add(x, load_part(d, bias + i, rest));
      store_part(x, d, out + i, rest);
    }
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(Sum);
VITRINE_EXPORT(Sums);
VITRINE_EXPORT(SquaredDistance);
VITRINE_EXPORT(Statistics);
VITRINE_EXPORT(Largest);
VITRINE_EXPORT(Smallest);
VITRINE_EXPORT(FindFirst);
VITRINE_EXPORT(Softmax);
VITRINE_EXPORT(LogSoftmax);
VITRINE_EXPORT(SoftmaxColumns);
VITRINE_EXPORT(LogSoftmaxColumns);
VITRINE_EXPORT(Normalize);

double sum(const float* values, int64_t count) { return VITRINE_DISPATCH(Sum)(values, count); }
void sums(const float* values, int64_t lines, int64_t count, double divisor, float* out) {
  VITRINE_DISPATCH(Sums)(values, lines, count, divisor, out);
}
double squared_distance(const float* values, float center, int64_t count) {
  return VITRINE_DISPATCH(SquaredDistance)(values, center, count);
}
void statistics(const float* values, int64_t lines, int64_t count, int64_t parts, int64_t stride,
                double epsilon, float* mean, float* rstd) {
  VITRINE_DISPATCH(Statistics)(values, lines, count, parts, stride, epsilon, mean, rstd);
}
float largest(const float* values, int64_t count) {
  return VITRINE_DISPATCH(Largest)(values, count);
}
float smallest(const float* values, int64_t count) {
  return VITRINE_DISPATCH(Smallest)(values, count);
}
int64_t find_first(const float* values, float value, int64_t count) {
  return VITRINE_DISPATCH(FindFirst)(values, value, count);
}
void softmax(const float* in, float* out, int64_t lines, int64_t count) {
  VITRINE_DISPATCH(Softmax)(in, out, lines, count);
}
void log_softmax(const float* in, float* out, int64_t lines, int64_t count) {
  VITRINE_DISPATCH(LogSoftmax)(in, out, lines, count);
}
void softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count) {
  VITRINE_DISPATCH(SoftmaxColumns)(in, out, rows, stride, count);
}
void log_softmax_columns(const float* in, float* out, int64_t rows, int64_t stride, int64_t count) {
  VITRINE_DISPATCH(LogSoftmaxColumns)(in, out, rows, stride, count);
}
void normalize(const float* in, int64_t lines, int64_t count, double epsilon, const float* weight,
               const float* bias, float* out, float* mean, float* rstd) {
  VITRINE_DISPATCH(Normalize)(in, lines, count, epsilon, weight, bias, out, mean, rstd);
}

}  // namespace vitrine::optimized::simd
#endif
