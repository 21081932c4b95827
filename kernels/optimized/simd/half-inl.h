// Converts bit patterns of Half and BFloat16 to floats. Included once for each instruction set.
#if defined(VITRINE_SIMD_HALF_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_HALF_INL_H_
#undef VITRINE_SIMD_HALF_INL_H_
#else
#define VITRINE_SIMD_HALF_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Converts by scaling (F. Giesen's method) instead of using the instruction set's conversions, so
// that NaN payloads and denormals are the same on every machine.
template <class DF, class VHalf>
HWY_INLINE hn::Vec<DF> half_to_float(DF df, VHalf half) {
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::PromoteTo(du, half);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fff));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto scale = hn::BitCast(df, hn::Set(du, uint32_t{(254 - 15) << 23}));
  const auto value = hn::BitCast(du, hn::Mul(hn::BitCast(df, shifted), scale));
  const auto special = hn::Gt(hn::BitCast(di, shifted), hn::Set(di, (0x7c00 << 13) - 1));
  const auto all =
      hn::IfThenElse(hn::RebindMask(du, special), hn::Or(shifted, hn::Set(du, 0x7f800000u)), value);
  return hn::BitCast(df, hn::Or(all, sign));
}

// Like half_to_float, but uses the instruction set's conversion if there is one. NaN payloads may
// differ.
template <class DF, class VHalf>
HWY_INLINE hn::Vec<DF> half_number_to_float(DF df, VHalf half) {
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || HWY_TARGET == HWY_NEON
  const hn::Rebind<hwy::float16_t, DF> dh;
  return hn::PromoteTo(df, hn::BitCast(dh, half));
#else
  return half_to_float(df, half);
#endif
}

template <class DF, class VBFloat16>
HWY_INLINE hn::Vec<DF> bfloat16_to_float(DF df, VBFloat16 number) {
  const hn::RebindToUnsigned<DF> du;
  return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, number)));
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
