#include "kernels/optimized/simd/pooling.h"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// Specifies how a vector is read: contiguous elements, every second element, or every second
// element without reading past the last one.
enum class Reading : uint8_t { kDense, kEven, kLast };

template <class D>
HWY_INLINE hn::Vec<D> load_line(D d, const float* from, Reading reading) {
  const auto low = hn::LoadU(d, from);
  if (reading == Reading::kDense) return low;
  if (reading == Reading::kEven) {
    return hn::ConcatEven(d, hn::LoadU(d, from + hn::Lanes(d)), low);
  }
  const auto high = hn::LoadU(d, from + hn::Lanes(d) - 1);
  return hn::ConcatUpperLower(d, hn::ConcatOdd(d, high, high), hn::ConcatEven(d, low, low));
}

// Calls body(d, i, reading) for vectors of windows that start at window i. The vectors cover all
// windows, and the last two may overlap. Returns false if there are too few windows for a vector.
template <class D, class Body>
HWY_INLINE bool for_each_vector(D d, int64_t count, int64_t stride, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t margin = stride - 1;
  if (stride > 2 || count < lanes) return false;
  int64_t i = 0;
  for (; i + lanes + margin <= count; i += lanes) {
    body(d, i, stride == 1 ? Reading::kDense : Reading::kEven);
  }
  if (i < count) body(d, count - lanes, stride == 1 ? Reading::kDense : Reading::kLast);
  return true;
}
// Tries full vectors first, then vectors of four lanes, because lines are often short.
template <class Body>
HWY_INLINE bool for_each_vector(int64_t count, int64_t stride, const Body& body) {
  return for_each_vector(hn::ScalableTag<float>(), count, stride, body) ||
         for_each_vector(hn::CappedTag<float, 4>(), count, stride, body);
}

#endif

// Calls tap(offset) for all elements of a window.
template <class Tap>
HWY_INLINE void for_each_tap(const Windows& w, const Tap& tap) {
  for (int64_t row = 0; row < w.rows; ++row) {
    for (int64_t i = 0; i < w.taps; ++i) tap(row * w.row_step + i * w.tap_step);
  }
}

void LargestOfWindows(const Windows& w, int32_t index, int64_t count, float* largest,
                      int64_t* indices) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
#if HWY_TARGET != HWY_SCALAR
  const bool done =
      for_each_vector(count, w.stride, [&](auto d, int64_t at, Reading reading) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> di;
        const hn::Half<decltype(di)> half;
        const hn::Rebind<int64_t, decltype(half)> wide;
        const float* const from = w.from + at * w.stride;
        auto best = hn::Set(d, kMinusInfinity);
        const auto first =
            hn::Add(hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(w.stride))),
                    hn::Set(di, index + static_cast<int32_t>(at * w.stride)));
        auto best_index = first;
        for_each_tap(w, [&](int64_t offset) HWY_ATTR {
          const auto x = load_line(d, from + offset, reading);
          const auto taken = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
          best = hn::IfThenElse(taken, x, best);
          best_index =
              hn::IfThenElse(hn::RebindMask(di, taken),
                             hn::Add(first, hn::Set(di, static_cast<int32_t>(offset))), best_index);
        });
        hn::StoreU(best, d, largest + at);
        hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, best_index)), wide, indices + at);
        hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, best_index)), wide,
                   indices + at + hn::Lanes(half));
      });
  if (done) return;
#endif
  for (int64_t i = 0; i < count; ++i) {
    float best = kMinusInfinity;
    int64_t best_offset = 0;
    for_each_tap(w, [&](int64_t offset) HWY_ATTR {
      const float x = w.from[i * w.stride + offset];
      if (x > best || x != x) {
        best = x;
        best_offset = offset;
      }
    });
    largest[i] = best;
    indices[i] = index + i * w.stride + best_offset;
  }
}

void LargestOfNeighbors(const Neighbors& n, int64_t count, float* largest,
                        int32_t* largest_indices) {
  const hn::CappedTag<float, kPoolingSlack> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < count; i += lanes) {
    auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
    auto best_index =
        n.indices != nullptr ? hn::LoadU(di, n.indices + i) : hn::Iota(di, static_cast<int32_t>(i));
    for (int64_t t = 0; t < n.taps; ++t) {
      const int64_t at = i + t * n.step;
      const auto x = hn::LoadU(d, n.values + at);
      const auto index = n.indices != nullptr ? hn::LoadU(di, n.indices + at)
                                              : hn::Iota(di, static_cast<int32_t>(at));
      const auto taken = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
      best = hn::IfThenElse(taken, x, best);
      best_index = hn::IfThenElse(hn::RebindMask(di, taken), index, best_index);
    }
    hn::StoreU(best, d, largest + i);
    hn::StoreU(best_index, di, largest_indices + i);
  }
}

void SumsOfWindows(const Windows& w, int64_t count, float* sums) {
#if HWY_TARGET != HWY_SCALAR
  const bool done =
      for_each_vector(count, w.stride, [&](auto d, int64_t at, Reading reading) HWY_ATTR {
        const float* const from = w.from + at * w.stride;
        auto sum = hn::Zero(d);
        for_each_tap(w, [&](int64_t offset)
                            HWY_ATTR { sum = hn::Add(sum, load_line(d, from + offset, reading)); });
        hn::StoreU(sum, d, sums + at);
      });
  if (done) return;
#endif
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for_each_tap(w, [&](int64_t offset) HWY_ATTR { sum += w.from[i * w.stride + offset]; });
    sums[i] = sum;
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(LargestOfWindows);
VITRINE_EXPORT(LargestOfNeighbors);
VITRINE_EXPORT(SumsOfWindows);

void largest_of_windows(const Windows& windows, int32_t index, int64_t count, float* largest,
                        int64_t* indices) {
  VITRINE_DISPATCH(LargestOfWindows)(windows, index, count, largest, indices);
}
void largest_of_neighbors(const Neighbors& neighbors, int64_t count, float* largest,
                          int32_t* largest_indices) {
  VITRINE_DISPATCH(LargestOfNeighbors)(neighbors, count, largest, largest_indices);
}
void sums_of_windows(const Windows& windows, int64_t count, float* sums) {
  VITRINE_DISPATCH(SumsOfWindows)(windows, count, sums);
}

}  // namespace vitrine::optimized::simd
#endif
