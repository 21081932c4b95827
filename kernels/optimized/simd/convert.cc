#include "kernels/optimized/simd/convert.h"

#include <cstring>

#include "vitrine/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/convert.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/half-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Bits = hn::RebindToUnsigned<Floats>;
using SignedBits = hn::RebindToSigned<Floats>;

// Converts full vectors with widen(), and other elements one by one. Narrow is Half or BFloat16.
template <class Narrow, class Widen>
HWY_INLINE void widen_all(const void* from, void* to, int64_t count, const Widen& widen) {
  const Floats df;
  const hn::Rebind<uint16_t, Floats> dh;
  const auto* source = static_cast<const uint16_t*>(from);
  auto* target = static_cast<float*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(widen(hn::LoadU(dh, source + i)), df, target + i);
  }
  const auto* rest = static_cast<const Narrow*>(from);
  for (; i < count; ++i) target[i] = static_cast<float>(rest[i]);
}

// Converts floats to Narrow. narrow() returns bit patterns in vectors of 32-bit lanes.
template <class Narrow, class ToBits>
HWY_INLINE void narrow_all(const void* from, void* to, int64_t count, const ToBits& narrow) {
  const Floats df;
  const hn::Rebind<uint16_t, Floats> dh;
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<uint16_t*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::BitCast(SignedBits(), narrow(hn::LoadU(df, source + i)));
    hn::StoreU(hn::DemoteTo(dh, bits), dh, target + i);
  }
  auto* rest = static_cast<Narrow*>(to);
  for (; i < count; ++i) rest[i] = Narrow(source[i]);
}

void HalfToFloat(const void* from, void* to, int64_t count) {
  widen_all<Half>(from, to, count,
                  [](auto half) HWY_ATTR { return half_to_float(Floats(), half); });
}

void BFloat16ToFloat(const void* from, void* to, int64_t count) {
  widen_all<BFloat16>(from, to, count,
                      [](auto number) HWY_ATTR { return bfloat16_to_float(Floats(), number); });
}

void FloatToBFloat16(const void* from, void* to, int64_t count) {
  narrow_all<BFloat16>(from, to, count, [](hn::Vec<Floats> value) HWY_ATTR {
    const Bits du;
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff))));
    const auto nan = hn::RebindMask(du, hn::IsNaN(value));
    return hn::IfThenElse(nan, hn::Set(du, 0x7fc0), rounded);
  });
}

void FloatToHalf(const void* from, void* to, int64_t count) {
  narrow_all<Half>(from, to, count, [](hn::Vec<Floats> number) HWY_ATTR {
    return float_to_half_bits(Floats(), number);
  });
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(HalfToFloat);
VITRINE_EXPORT(BFloat16ToFloat);
VITRINE_EXPORT(FloatToBFloat16);
VITRINE_EXPORT(FloatToHalf);

namespace {
void copy(const void* from, void* to, int64_t count) {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
}
}  // namespace

Convert to_float(ScalarType dtype) {
  if (dtype == ScalarType::kHalf) return &VITRINE_DISPATCH(HalfToFloat);
  if (dtype == ScalarType::kBFloat16) return &VITRINE_DISPATCH(BFloat16ToFloat);
  return dtype == ScalarType::kFloat ? copy : nullptr;
}

Convert from_float(ScalarType dtype) {
  if (dtype == ScalarType::kHalf) return &VITRINE_DISPATCH(FloatToHalf);
  if (dtype == ScalarType::kBFloat16) return &VITRINE_DISPATCH(FloatToBFloat16);
  return dtype == ScalarType::kFloat ? copy : nullptr;
}

}  // namespace vitrine::optimized::simd
#endif
