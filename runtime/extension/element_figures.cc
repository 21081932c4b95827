#include "runtime/extension/element_figures.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/extension/element_figures.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_HAVE_FLOAT64
using Doubles = hn::ScalableTag<double>;
using Integers = hn::Rebind<int32_t, Doubles>;

HWY_INLINE hn::Vec<Doubles> load(const double* from) { return hn::LoadU(Doubles(), from); }
HWY_INLINE hn::Vec<Doubles> load(const float* from) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), from));
}
#endif

// Zeros are counted in type T, which is exact for a small block.
template <class T>
HWY_INLINE Bounds bounds_in(const T* elements, size_t count) {
  Bounds result;
  size_t i = 0;
#if HWY_HAVE_FLOAT64
  const Doubles d;
  const hn::ScalableTag<T> dt;
  const size_t step = hn::Lanes(dt);
  auto low = hn::Set(dt, std::numeric_limits<T>::infinity()), high = hn::Neg(low);
  auto zeros = hn::Zero(dt);
  // Two sums, because the processor can add to both at the same time.
  auto sum = hn::Zero(d), other_sum = sum;
  for (; i + step <= count; i += step) {
    const auto x = hn::LoadU(dt, elements + i);
    low = hn::Min(low, x);
    high = hn::Max(high, x);
    zeros = hn::Add(zeros, hn::IfThenElseZero(hn::Eq(x, hn::Zero(dt)), hn::Set(dt, 1)));
    sum = hn::Add(sum, load(elements + i));
    if constexpr (sizeof(T) < sizeof(double)) {
      other_sum = hn::Add(other_sum, load(elements + i + hn::Lanes(d)));
    }
  }
  result.low = double{hn::GetLane(hn::MinOfLanes(dt, low))};
  result.high = double{hn::GetLane(hn::MaxOfLanes(dt, high))};
  result.zeros = static_cast<uint64_t>(hn::GetLane(hn::SumOfLanes(dt, zeros)));
  result.sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other_sum)));
#endif
  for (; i < count; ++i) result.add(double{elements[i]});
  return result;
}

Bounds BoundsOfFloats(const float* elements, size_t count) { return bounds_in(elements, count); }
Bounds BoundsOfDoubles(const double* elements, size_t count) { return bounds_in(elements, count); }

// pairs[i] = bin of a[i] + kBins * bin of b[i]. Returns the sum of (x - mean)^2 over all elements x
// of `a` and `b`.
template <class T>
HWY_INLINE double pairs_in(const Bins& bins, double mean, const T* a, const T* b, int32_t* pairs,
                           size_t count) {
  double squares = 0;
  size_t i = 0;
#if HWY_HAVE_FLOAT64
  const Doubles d;
  const auto low = hn::Set(d, bins.low), per_unit = hn::Set(d, bins.per_unit);
  const auto last = hn::Set(d, Bins::kLast), means = hn::Set(d, mean);
  auto sum_of_a = hn::Zero(d), sum_of_b = hn::Zero(d);
  const auto visit = [&](const T* from, auto& sum) HWY_ATTR {
    const auto x = load(from);
    const auto distance = hn::Sub(x, means);
    sum = hn::MulAdd(distance, distance, sum);
    return hn::DemoteTo(Integers(), hn::Min(hn::Mul(hn::Sub(x, low), per_unit), last));
  };
  static_assert(ValueSummary::kBins == size_t{1} << 6);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto bin_of_a = visit(a + i, sum_of_a), bin_of_b = visit(b + i, sum_of_b);
    hn::StoreU(hn::Add(bin_of_a, hn::ShiftLeft<6>(bin_of_b)), Integers(), pairs + i);
  }
  squares = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum_of_a, sum_of_b)));
#endif
  for (; i < count; ++i) {
    const double x = double{a[i]}, y = double{b[i]};
    pairs[i] = static_cast<int32_t>(bins.bin_of(x) + ValueSummary::kBins * bins.bin_of(y));
    squares += (x - mean) * (x - mean) + (y - mean) * (y - mean);
  }
  return squares;
}

double PairsOfFloats(const Bins& bins, double mean, const float* a, const float* b, int32_t* pairs,
                     size_t count) {
  return pairs_in(bins, mean, a, b, pairs, count);
}
double PairsOfDoubles(const Bins& bins, double mean, const double* a, const double* b,
                      int32_t* pairs, size_t count) {
  return pairs_in(bins, mean, a, b, pairs, count);
}

}  // namespace vitrine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine {

VITRINE_EXPORT(BoundsOfFloats);
VITRINE_EXPORT(BoundsOfDoubles);
VITRINE_EXPORT(PairsOfFloats);
VITRINE_EXPORT(PairsOfDoubles);

Bounds bounds_of(std::span<const float> elements) {
  return VITRINE_DISPATCH(BoundsOfFloats)(elements.data(), elements.size());
}
Bounds bounds_of(std::span<const double> elements) {
  return VITRINE_DISPATCH(BoundsOfDoubles)(elements.data(), elements.size());
}

Bins::Bins(double min, double max) : low(min) {
  // Halves the bounds first, because max - min may overflow.
  const double half_width = max / 2 - min / 2;
  if (half_width > 0) {
    per_unit = std::min(ValueSummary::kBins / 2.0 / half_width, std::numeric_limits<double>::max());
  }
}

template <class T, class PairsOf>
void Distribution::add_block(std::span<const T> elements, PairsOf pairs_of) {
  const size_t half = elements.size() / 2;
  std::array<int32_t, kPairsOfBlock> pairs;
  const T* const first = elements.data();
  squares_ += pairs_of(bins_, mean_, first, first + half, pairs.data(), half);
  size_t i = 0;
  for (; i + kTables <= half; i += kTables) {
    for (size_t table = 0; table < kTables; ++table) {
      ++tables_[table][static_cast<size_t>(pairs[i + table])];
    }
  }
  for (; i < half; ++i) ++tables_[0][static_cast<size_t>(pairs[i])];
  if (2 * half < elements.size()) {
    const double x{elements.back()};
    squares_ += (x - mean_) * (x - mean_);
    ++histogram_[bins_.bin_of(x)];
  }
  if (++blocks_ == kMaxBlocks) clear_tables();
}

void Distribution::add(std::span<const float> elements) {
  add_block(elements, VITRINE_DISPATCH(PairsOfFloats));
}
void Distribution::add(std::span<const double> elements) {
  add_block(elements, VITRINE_DISPATCH(PairsOfDoubles));
}

void Distribution::clear_tables() {
  constexpr size_t kBins = ValueSummary::kBins;
  std::array<uint32_t, kBins> sums = {};
  for (size_t second = 0; second < kBins; ++second) {
    uint32_t sum = 0;
    for (const auto& table : tables_) {
      for (size_t first = 0; first < kBins; ++first) {
        const uint16_t count = table[second * kBins + first];
        sums[first] += count;
        sum += count;
      }
    }
    sums[second] += sum;
  }
  for (size_t i = 0; i < kBins; ++i) histogram_[i] += sums[i];
  for (auto& table : tables_) table.fill(0);
  blocks_ = 0;
}

std::array<uint64_t, ValueSummary::kBins> Distribution::histogram() {
  clear_tables();
  return histogram_;
}

}  // namespace vitrine
#endif
