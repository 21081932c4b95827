// Loads and stores vectors of floats. The elements in memory are floats or Halfs. Included once for
// each instruction set.
#if defined(VITRINE_SIMD_LOAD_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_LOAD_FLOATS_INL_H_
#undef VITRINE_SIMD_LOAD_FLOATS_INL_H_
#else
#define VITRINE_SIMD_LOAD_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

#include "kernels/optimized/simd/half-inl.h"
#include "kernels/optimized/simd/part-inl.h"
#include "vitrine/half.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using FloatTag = hn::CappedTag<float, 64>;

HWY_INLINE hn::Vec<FloatTag> load_floats(const float* from) { return hn::LoadU(FloatTag(), from); }
// Loads at most `count` floats. The other lanes are zero.
HWY_INLINE hn::Vec<FloatTag> load_floats(const float* from, int64_t count) {
  return load_part(FloatTag(), from, count);
}
HWY_INLINE hn::Vec<FloatTag> load_floats(const Half* from) {
  const hn::Rebind<uint16_t, FloatTag> dh;
  return half_number_to_float(FloatTag(), hn::LoadU(dh, reinterpret_cast<const uint16_t*>(from)));
}
// Loads fewer Halfs than a full vector, for instruction sets that cannot mask 16-bit elements, such
// as AVX2.
[[maybe_unused]] HWY_NOINLINE inline hn::Vec<FloatTag> load_few(const Half* from, int64_t count) {
  const hn::Rebind<uint16_t, FloatTag> dh;
  HWY_ALIGN uint16_t lanes[HWY_MAX_BYTES / sizeof(uint16_t)] = {};
  std::memcpy(lanes, from, static_cast<size_t>(count) * sizeof(Half));
  return half_number_to_float(FloatTag(), hn::Load(dh, lanes));
}
HWY_INLINE hn::Vec<FloatTag> load_floats(const Half* from, int64_t count) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const hn::Rebind<uint16_t, FloatTag> dh;
  return half_number_to_float(FloatTag(),
                              load_part(dh, reinterpret_cast<const uint16_t*>(from), count));
#else
  return count >= static_cast<int64_t>(hn::Lanes(FloatTag())) ? load_floats(from)
                                                              : load_few(from, count);
#endif
}
HWY_INLINE void store_floats(hn::Vec<FloatTag> value, float* to, int64_t count) {
  store_part(value, FloatTag(), to, count);
}
HWY_NOINLINE inline void store_floats(hn::Vec<FloatTag> value, Half* to, int64_t count) {
  const hn::Rebind<uint16_t, FloatTag> dh;
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
  const hn::Rebind<hwy::float16_t, FloatTag> df16;
  const auto bits = hn::BitCast(dh, hn::DemoteTo(df16, value));
#else
  const hn::RebindToSigned<FloatTag> di;
  const auto bits = hn::DemoteTo(dh, hn::BitCast(di, float_to_half_bits(FloatTag(), value)));
#endif
  if (count >= static_cast<int64_t>(hn::Lanes(dh))) {
    return hn::StoreU(bits, dh, reinterpret_cast<uint16_t*>(to));
  }
  HWY_ALIGN uint16_t lanes[HWY_MAX_BYTES / sizeof(uint16_t)];
  hn::Store(bits, dh, lanes);
  std::memcpy(to, lanes, static_cast<size_t>(count) * sizeof(Half));
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
