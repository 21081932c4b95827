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

// Elements that load_line() reads: contiguous elements (kDense) or every second element (kEven and
// kLast). kEven also reads the element after the last selected element. kLast does not, because the
// memory may end there.
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

// Calls body(d, i, reading) for each vector of windows. The vector's first window is i. The vectors
// cover all windows, and the last two vectors may overlap. Returns false if the stride is more than
// 2, or if there are too few windows for a vector.
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
// Tries full vectors, then vectors of four lanes, because lines are often short.
template <class Body>
HWY_INLINE bool for_each_vector(int64_t count, int64_t stride, const Body& body) {
  return for_each_vector(hn::ScalableTag<float>(), count, stride, body) ||
         for_each_vector(hn::CappedTag<float, 4>(), count, stride, body);
}

#endif

void LargestOfLine(const Windows& w, const WindowIndices& at, int64_t count, float* largest,
                   int64_t* indices) {
  constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
#if HWY_TARGET != HWY_SCALAR
  const bool done =
      for_each_vector(count, w.stride, [&](auto d, int64_t i, Reading reading) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> di;
        const hn::Half<decltype(di)> half;
        const hn::Rebind<int64_t, decltype(half)> wide;
        const float* const from = w.from + i * w.stride;
        auto best = hn::Set(d, kMinusInfinity);
        const auto first =
            hn::Add(hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<int32_t>(w.stride))),
                    hn::Set(di, at.first + static_cast<int32_t>(i * w.stride)));
        auto best_index = first;
        for (int64_t row = 0; row < w.rows; ++row) {
          for (int64_t tap = 0; tap < w.taps; ++tap) {
            const auto x = load_line(d, from + row * w.row_step + tap * w.tap_step, reading);
            const auto index = static_cast<int32_t>(row * at.row_step + tap * w.tap_step);
            const auto taken = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
            best = hn::IfThenElse(taken, x, best);
            best_index = hn::IfThenElse(hn::RebindMask(di, taken),
                                        hn::Add(first, hn::Set(di, index)), best_index);
          }
        }
        hn::StoreU(best, d, largest + i);
        hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, best_index)), wide, indices + i);
        hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, best_index)), wide,
                   indices + i + hn::Lanes(half));
      });
  if (done) return;
#endif
  for (int64_t i = 0; i < count; ++i) {
    float best = kMinusInfinity;
    int64_t best_index = 0;
    for (int64_t row = 0; row < w.rows; ++row) {
      for (int64_t tap = 0; tap < w.taps; ++tap) {
        const float x = w.from[i * w.stride + row * w.row_step + tap * w.tap_step];
        if (x > best || x != x) {
          best = x;
          best_index = row * at.row_step + tap * w.tap_step;
        }
      }
    }
    largest[i] = best;
    indices[i] = at.first + i * w.stride + best_index;
  }
}

void LargestOfWindows(const Windows& windows, const WindowIndices& at, int64_t count,
                      float* largest, int64_t* indices) {
  Windows line = windows;
  WindowIndices line_at = at;
  for (int64_t l = 0; l < windows.lines; ++l) {
    LargestOfLine(line, line_at, count, largest + l * count, indices + l * count);
    line.from += windows.line_step;
    line_at.first += static_cast<int32_t>(at.line_step);
  }
}

void SumsOfLine(const Windows& w, int64_t count, const float* divisors, float* sums) {
#if HWY_TARGET != HWY_SCALAR
  const bool done =
      for_each_vector(count, w.stride, [&](auto d, int64_t i, Reading reading) HWY_ATTR {
        const float* const from = w.from + i * w.stride;
        auto sum = hn::Zero(d);
        for (int64_t row = 0; row < w.rows; ++row) {
          for (int64_t tap = 0; tap < w.taps; ++tap) {
            sum = hn::Add(sum, load_line(d, from + row * w.row_step + tap * w.tap_step, reading));
          }
        }
        if (divisors != nullptr) sum = hn::Div(sum, hn::LoadU(d, divisors + i));
        hn::StoreU(sum, d, sums + i);
      });
  if (done) return;
#endif
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int64_t row = 0; row < w.rows; ++row) {
      for (int64_t tap = 0; tap < w.taps; ++tap) {
        sum += w.from[i * w.stride + row * w.row_step + tap * w.tap_step];
      }
    }
    sums[i] = divisors == nullptr ? sum : sum / divisors[i];
  }
}

void SumsOfWindows(const Windows& windows, int64_t count, const float* divisors, float* sums) {
  Windows line = windows;
  for (int64_t l = 0; l < windows.lines; ++l) {
    SumsOfLine(line, count, divisors == nullptr ? nullptr : divisors + l * count, sums + l * count);
    line.from += windows.line_step;
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(LargestOfWindows);
VITRINE_EXPORT(SumsOfWindows);

void largest_of_windows(const Windows& windows, const WindowIndices& at, int64_t count,
                        float* largest, int64_t* indices) {
  VITRINE_DISPATCH(LargestOfWindows)(windows, at, count, largest, indices);
}
void sums_of_windows(const Windows& windows, int64_t count, const float* divisors, float* sums) {
  VITRINE_DISPATCH(SumsOfWindows)(windows, count, divisors, sums);
}

}  // namespace vitrine::optimized::simd
#endif
