#include "kernels/optimized/simd/convert.h"

#include <cstring>

#include "vitrine/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/convert.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/dispatch.h"
#include "kernels/optimized/simd/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void HalfToFloat(const void* from, void* to, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::Rebind<uint16_t, decltype(df)> dh;
  const auto* source = static_cast<const uint16_t*>(from);
  auto* target = static_cast<float*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(half_to_float(df, hn::LoadU(dh, source + i)), df, target + i);
  }
  const auto* rest = static_cast<const Half*>(from);
  for (; i < count; ++i) target[i] = static_cast<float>(rest[i]);
}

void BFloat16ToFloat(const void* from, void* to, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint16_t, decltype(df)> dh;
  const auto* source = static_cast<const uint16_t*>(from);
  auto* target = static_cast<float*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::PromoteTo(du, hn::LoadU(dh, source + i));
    hn::StoreU(hn::BitCast(df, hn::ShiftLeft<16>(bits)), df, target + i);
  }
  const auto* rest = static_cast<const BFloat16*>(from);
  for (; i < count; ++i) target[i] = static_cast<float>(rest[i]);
}

void FloatToBFloat16(const void* from, void* to, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Rebind<uint16_t, decltype(df)> dh;
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<uint16_t*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto value = hn::LoadU(df, source + i);
    const auto bits = hn::BitCast(du, value);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff))));
    const auto nan = hn::RebindMask(du, hn::IsNaN(value));
    const auto result = hn::IfThenElse(nan, hn::Set(du, 0x7fc0), rounded);
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(hn::RebindToSigned<decltype(du)>(), result)), dh,
               target + i);
  }
  auto* rest = static_cast<BFloat16*>(to);
  for (; i < count; ++i) rest[i] = BFloat16(source[i]);
}

// Rounds by adding a number whose last place is that of the result.
void FloatToHalf(const void* from, void* to, int64_t count) {
  const hn::ScalableTag<float> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<uint16_t, decltype(df)> dh;
  const auto* source = static_cast<const float*>(from);
  auto* target = static_cast<uint16_t*>(to);
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::BitCast(du, hn::LoadU(df, source + i));
    const auto sign = hn::And(bits, hn::Set(du, 0x80000000u));
    const auto magnitude = hn::Xor(bits, sign);
    const auto value = hn::BitCast(df, magnitude);
    // Below 2^-14: counts of 2^-24.
    const auto tiny_base = hn::Set(du, 126u << 23);  // 0.5, whose last place is 2^-24
    const auto tiny =
        hn::Sub(hn::BitCast(du, hn::Add(value, hn::BitCast(df, tiny_base))), tiny_base);
    const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1));
    const auto normal =
        hn::ShiftRight<13>(hn::Add(hn::Add(magnitude, hn::Set(du, 0xfffu - (112u << 23))), odd));
    const auto is_below = [&](uint32_t bound) HWY_ATTR {
      return hn::RebindMask(
          du, hn::Lt(hn::BitCast(di, magnitude), hn::Set(di, static_cast<int32_t>(bound))));
    };
    auto result = hn::IfThenElse(is_below(113u << 23), tiny, normal);
    result = hn::IfThenElse(is_below(143u << 23), result, hn::Set(du, 0x7c00));  // from 65536 on
    result = hn::IfThenElse(is_below(0x7f800001u), result, hn::Set(du, 0x7e00));
    result = hn::Or(result, hn::ShiftRight<16>(sign));
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, result)), dh, target + i);
  }
  auto* rest = static_cast<Half*>(to);
  for (; i < count; ++i) rest[i] = Half(source[i]);
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
