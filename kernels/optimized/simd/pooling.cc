#include "kernels/optimized/simd/pooling.h"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void TakeLarger(const float* from, int64_t stride, int32_t index, int64_t count, float* best,
                int32_t* places) {
  const auto step = static_cast<int32_t>(stride);
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (stride <= 2) {
    const auto numbers = hn::Mul(hn::Iota(di, 0), hn::Set(di, step));
    for (; i + lanes < count; i += lanes) {  // with stride 2, one too many is read
      hn::Vec<decltype(d)> x;
      if (stride == 1) {
        x = hn::LoadU(d, from + i);
      } else {
        hn::Vec<decltype(d)> odd;
        hn::LoadInterleaved2(d, from + 2 * i, x, odd);
      }
      const auto old = hn::LoadU(d, best + i);
      const auto taken = hn::Or(hn::Gt(x, old), hn::IsNaN(x));
      hn::StoreU(hn::IfThenElse(taken, x, old), d, best + i);
      const auto here = hn::Add(numbers, hn::Set(di, index + static_cast<int32_t>(i) * step));
      hn::StoreU(hn::IfThenElse(hn::RebindMask(di, taken), here, hn::LoadU(di, places + i)), di,
                 places + i);
    }
  }
#endif
  for (; i < count; ++i) {
    const float x = from[i * stride];
    if (x > best[i] || x != x) {
      best[i] = x;
      places[i] = index + static_cast<int32_t>(i) * step;
    }
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

HWY_EXPORT(TakeLarger);

void take_larger(const float* from, int64_t stride, int32_t index, int64_t count, float* best,
                 int32_t* places) {
  HWY_DYNAMIC_DISPATCH(TakeLarger)(from, stride, index, count, best, places);
}

}  // namespace vitrine::optimized::simd
#endif
