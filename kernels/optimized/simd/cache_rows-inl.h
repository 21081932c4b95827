// Loads rows of an attention cache as vectors of floats. Included once for each instruction set.
#if defined(VITRINE_SIMD_CACHE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_CACHE_ROWS_INL_H_
#undef VITRINE_SIMD_CACHE_ROWS_INL_H_
#else
#define VITRINE_SIMD_CACHE_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernels/optimized/simd/attention.h"
#include "kernels/optimized/simd/half-inl.h"
#include "kernels/optimized/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, 64>;
using V = hn::Vec<Tag>;

HWY_INLINE int64_t lanes() { return static_cast<int64_t>(hn::Lanes(Tag())); }

// Conversions of a cache's elements to float. `T` is the type in memory.
struct FloatElements {
  using T = float;
  static HWY_INLINE V widen(hn::Vec<Tag> v, int32_t) { return v; }
};
struct HalfElements {
  using T = uint16_t;
  template <class VT>
  static HWY_INLINE V widen(VT v, int32_t) {
    return half_number_to_float(Tag(), v);
  }
};
struct BFloat16Elements {
  using T = uint16_t;
  template <class VT>
  static HWY_INLINE V widen(VT v, int32_t) {
    return bfloat16_to_float(Tag(), v);
  }
};
struct CharElements {
  using T = int8_t;
  // Subtracts zero points as integers, which is exact.
  template <class VT>
  static HWY_INLINE V widen(VT v, int32_t zero_point) {
    const hn::RebindToSigned<Tag> di;
    return hn::ConvertTo(Tag(), hn::Sub(hn::PromoteTo(di, v), hn::Set(di, zero_point)));
  }
};

template <class Elements>
HWY_INLINE V load(const typename Elements::T* from, int32_t zero_point) {
  return Elements::widen(hn::LoadU(hn::Rebind<typename Elements::T, Tag>(), from), zero_point);
}

// Loads `count` elements. The other lanes are finite but meaningless, so callers must multiply
// these lanes by zero.
template <class Elements>
HWY_INLINE V load_tail(const typename Elements::T* from, int64_t count, int32_t zero_point) {
  using T = typename Elements::T;
  if constexpr (sizeof(T) == sizeof(float)) {
    return load_part(Tag(), from, count);
  } else {  // some instruction sets cannot mask elements smaller than a float
    const hn::Rebind<T, Tag> d;
    HWY_ALIGN T elements[HWY_MAX_BYTES];
    hn::Store(hn::Zero(d), d, elements);
    std::memcpy(elements, from, static_cast<size_t>(count) * sizeof(T));
    return Elements::widen(hn::Load(d, elements), zero_point);
  }
}

template <class T>
struct Row {
  Row(const CacheRows& rows, int64_t n)
      : data(static_cast<const T*>(rows.data) + n * rows.stride),
        zero_point(rows.zero_points == nullptr ? 0 : rows.zero_points[n * rows.parameter_stride]) {}
  const T* data;
  int32_t zero_point;
};

// Number of rows between a row and its prefetch. Hardware prefetchers do not find the rows of a
// head, which are far apart in memory.
constexpr int64_t kRowsAhead = 16;
constexpr int64_t kLine = 64;

template <class T>
HWY_INLINE void prefetch(const T* from, int64_t count) {
  const auto* const bytes = reinterpret_cast<const char*>(from);
  for (int64_t i = 0; i < count * static_cast<int64_t>(sizeof(T)); i += kLine) {
    hwy::Prefetch(bytes + i);
  }
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
