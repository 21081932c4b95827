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

// Converts by scaling (Fabian Giesen's method), so that NaN payloads and denormals are the same on
// every machine.
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

// Like half_to_float(), but uses the instruction set's conversion if there is one. NaN payloads may
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

// Converts floats to the bits of Half, in 32-bit lanes. Rounds to nearest, ties to even. NaN stays
// NaN.
template <class DF>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<DF>> float_to_half_bits(DF df, hn::Vec<DF> number) {
  const hn::RebindToUnsigned<DF> du;
  const hn::RebindToSigned<DF> di;
  const auto bits = hn::BitCast(du, number);
  const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
  const auto magnitude = hn::Xor(bits, sign);
  const auto value = hn::BitCast(df, magnitude);
  // A Half below 2^-14 is a multiple of 2^-24. Adding 0.5 to a float rounds the float to such a
  // multiple.
  const auto tiny_base = hn::Set(du, 126u << 23);  // 0.5, whose lowest bit is 2^-24
  const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(value, hn::BitCast(df, tiny_base))), tiny_base);
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
  const auto normal =
      hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, hn::Set(du, 0xfffu - (112u << 23))), odd));
  const auto is_below = [&](uint32_t bound) HWY_ATTR {
    return hn::RebindMask(
        du, hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, static_cast<int32_t>(bound))));
  };
  auto result = hn::IfThenElse(is_below(113u << 23), tiny, normal);
  result = hn::IfThenElse(is_below(143u << 23), result, hn::Set(du, 0x7c00));  // 65536 or more
  result = hn::IfThenElse(is_below(0x7f800001u), result, hn::Set(du, 0x7e00));
  return hn::Or(result, hn::ShiftRight<16>(sign));
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
