#include "kernels/optimized/simd/pooling.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

// from[0], from[stride], ...; with stride 2 the element after the last is read, too.
template <class D>
HWY_INLINE hn::Vec<D> load_line(D d, const float* from, int64_t stride) {
  if (stride == 1) return hn::LoadU(d, from);
  hn::Vec<D> even, odd;
  hn::LoadInterleaved2(d, from, even, odd);
  return even;
}

// Calls body(d, i) for whole vectors from `i` on, so that load_line reads nothing after the line;
// gives the first that is left.
template <class D, class Body>
HWY_INLINE int64_t each_vector(D d, int64_t i, int64_t count, int64_t stride, Body&& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t end = stride == 1 ? count : count - 1;
  for (; i + lanes <= end; i += lanes) body(d, i);
  return i;
}
// Lines are short: what is left of full vectors goes by fours.
template <class Body>
HWY_INLINE int64_t each_vector(int64_t count, int64_t stride, Body&& body) {
  if (stride > 2) return 0;
  const int64_t i = each_vector(hn::ScalableTag<float>(), 0, count, stride, body);
  return each_vector(hn::CappedTag<float, 4>(), i, count, stride, body);
}

#endif

void TakeLarger(const float* from, int64_t stride, int32_t index, int64_t count, float* best,
                int32_t* places) {
  const auto step = static_cast<int32_t>(stride);
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  i = each_vector(count, stride, [&](auto d, int64_t at) HWY_ATTR {
    const hn::RebindToSigned<decltype(d)> di;
    const auto x = load_line(d, from + at * stride, stride);
    const auto old = hn::LoadU(d, best + at);
    const auto taken = hn::Or(hn::Gt(x, old), hn::IsNaN(x));
    hn::StoreU(hn::IfThenElse(taken, x, old), d, best + at);
    const auto here = hn::Add(hn::Mul(hn::Iota(di, 0), hn::Set(di, step)),
                              hn::Set(di, index + static_cast<int32_t>(at) * step));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(di, taken), here, hn::LoadU(di, places + at)), di,
               places + at);
  });
#endif
  for (; i < count; ++i) {
    const float x = from[i * stride];
    if (x > best[i] || x != x) {
      best[i] = x;
      places[i] = index + static_cast<int32_t>(i) * step;
    }
  }
}

void AddLine(const float* from, int64_t stride, int64_t count, float* sums) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  i = each_vector(count, stride, [&](auto d, int64_t at) HWY_ATTR {
    hn::StoreU(hn::Add(hn::LoadU(d, sums + at), load_line(d, from + at * stride, stride)), d,
               sums + at);
  });
#endif
  for (; i < count; ++i) sums[i] += from[i * stride];
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(AddLine);
VITRINE_EXPORT(TakeLarger);

void add_line(const float* from, int64_t stride, int64_t count, float* sums) {
  VITRINE_DISPATCH(AddLine)(from, stride, count, sums);
}
void take_larger(const float* from, int64_t stride, int32_t index, int64_t count, float* best,
                 int32_t* places) {
  VITRINE_DISPATCH(TakeLarger)(from, stride, index, count, best, places);
}

}  // namespace vitrine::optimized::simd
#endif
