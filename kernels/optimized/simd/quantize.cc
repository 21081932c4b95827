#include "kernels/optimized/simd/quantize.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/optimized/simd/quantize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/optimized/simd/part-inl.h"
#include "runtime/platform/simd_dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
#if HWY_TARGET <= HWY_AVX3
#define VITRINE_INTRINSIC(name) _mm512_##name
#elif HWY_TARGET <= HWY_AVX2
#define VITRINE_INTRINSIC(name) _mm256_##name
#else
#define VITRINE_INTRINSIC(name) _mm_##name
#endif

// Quantizes groups of four vectors, and returns the number of their elements.
HWY_INLINE int64_t quantize_groups(const float* in, const Quantization& q, uint8_t* out,
                                   int64_t count) {
  if (q.zero_point < q.lowest || q.zero_point > q.highest) return 0;  // NaN becomes zero_point
  const Tag d;
  const hn::ScalableTag<int32_t> d32;
  const hn::ScalableTag<int16_t> d16;
  const hn::ScalableTag<int8_t> d8;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const auto inverse = hn::Set(d, q.inverse);
  const auto high = hn::Set(d, static_cast<float>(q.highest - q.zero_point));
  // Unsigned numbers are shifted into the range of int8_t, and shifted back by flipping a bit.
  const int32_t shift = q.highest > INT8_MAX ? 128 : 0;
  const auto zero_point = hn::Set(d16, static_cast<int16_t>(q.zero_point - shift));
  const auto low = hn::Set(d8, static_cast<int8_t>(q.lowest - shift));
  const auto flips = hn::Set(d8, static_cast<int8_t>(shift));
  // Packing interleaves the blocks of the four vectors.
  HWY_ALIGN int32_t order[kLanes];
  for (int32_t i = 0; i < kLanes; ++i) order[i] = i % (kLanes / 4) * 4 + i / (kLanes / 4);
  const auto indices = hn::SetTableIndices(d32, order);
  // Numbers below the range of int32_t become INT32_MIN. The other conversions saturate.
  const auto integer = [&](const float* from) HWY_ATTR {
    const auto scaled = hn::Mul(hn::LoadU(d, from), inverse);
    const auto inside = hn::IfThenElseZero(hn::Eq(scaled, scaled), hn::Min(scaled, high));
    return hn::Vec<decltype(d32)>{VITRINE_INTRINSIC(cvtps_epi32)(inside.raw)};
  };
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    const float* const from = in + i;
    const auto first = hn::ReorderDemote2To(d16, integer(from), integer(from + kLanes));
    const auto second =
        hn::ReorderDemote2To(d16, integer(from + 2 * kLanes), integer(from + 3 * kLanes));
    const hn::Vec<decltype(d8)> bytes{VITRINE_INTRINSIC(packs_epi16)(
        hn::SaturatedAdd(first, zero_point).raw, hn::SaturatedAdd(second, zero_point).raw)};
    const auto result = hn::BitCast(d32, hn::Xor(hn::Max(bytes, low), flips));
    hn::StoreU(hn::TableLookupLanes(result, indices), d32, reinterpret_cast<int32_t*>(out + i));
  }
  return i;
}
#undef VITRINE_INTRINSIC
#else
HWY_INLINE int64_t quantize_groups(const float*, const Quantization&, uint8_t*, int64_t) {
  return 0;
}
#endif

void Quantize(const float* in, const Quantization& q, uint8_t* out, int64_t count) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<uint8_t, Tag> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto inverse = hn::Set(d, q.inverse);
  // The bounds are integers, so clamping before or after rounding gives the same result.
  const auto low = hn::Set(d, static_cast<float>(q.lowest - q.zero_point));
  const auto high = hn::Set(d, static_cast<float>(q.highest - q.zero_point));
  // Adding 1.5 * 2^23 rounds to the nearest integer, ties to even. The lowest byte of the sum is
  // then the lowest byte of the integer, because the bounds are small (see kMaxZeroPoint).
  const auto bias = hn::Set(d, 12582912.0F);
  const auto offset = hn::Sub(hn::Set(di, q.zero_point), hn::BitCast(di, bias));
  const auto quantized = [&](auto x) HWY_ATTR {
    const auto scaled = hn::Mul(x, inverse);
    const auto number = hn::IfThenZeroElse(hn::IsNaN(scaled), scaled);
    const auto inside = hn::Min(hn::Max(number, low), high);
    const auto shifted = hn::Add(hn::BitCast(di, hn::Add(inside, bias)), offset);
    return hn::TruncateTo(db, hn::BitCast(hn::RebindToUnsigned<Tag>(), shifted));
  };
  int64_t i = quantize_groups(in, q, out, count);
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    hn::StoreU(quantized(hn::LoadU(d, in + i)), db, out + i);
    hn::StoreU(quantized(hn::LoadU(d, in + i + lanes)), db, out + i + lanes);
    hn::StoreU(quantized(hn::LoadU(d, in + i + 2 * lanes)), db, out + i + 2 * lanes);
    hn::StoreU(quantized(hn::LoadU(d, in + i + 3 * lanes)), db, out + i + 3 * lanes);
  }
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(quantized(hn::LoadU(d, in + i)), db, out + i);
  }
  if (i == count) return;
  uint8_t last[HWY_MAX_BYTES];
  hn::StoreU(quantized(load_part(d, in + i, count - i)), db, last);
  std::copy_n(last, count - i, out + i);
}

#if HWY_HAVE_FLOAT64
void QuantizeShifted(const float* in, const ShiftedQuantization& q, uint8_t* out, int64_t count) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const hn::Rebind<int32_t, decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto inverse = hn::Set(d, q.inverse);
  const auto zero_point = hn::Set(d, q.zero_point);
  const auto low = hn::Set(d, static_cast<double>(q.lowest));
  const auto high = hn::Set(d, static_cast<double>(q.highest));
  const auto byte = hn::Set(di, 0xff);
  for (int64_t i = 0; i < count; i += lanes) {
    // Rounds twice, after the multiplication and after the addition, like separate operators.
    const auto product = hn::Mul(hn::PromoteTo(d, load_part(df, in + i, count - i)), inverse);
    const auto sum = hn::Add(product, zero_point);
    const auto number = hn::IfThenZeroElse(hn::IsNaN(sum), sum);
    const auto inside = hn::Min(hn::Max(number, low), high);
    const auto rounded = hn::And(hn::DemoteTo(di, hn::Round(inside)), byte);
    const auto bytes = hn::DemoteTo(db, rounded);
    if (count - i >= lanes) {
      hn::StoreU(bytes, db, out + i);
    } else {
      uint8_t last[HWY_MAX_BYTES];
      hn::StoreU(bytes, db, last);
      std::copy_n(last, count - i, out + i);
    }
  }
}
#else  // 32-bit NEON has no vectors of doubles
void QuantizeShifted(const float* in, const ShiftedQuantization& q, uint8_t* out, int64_t count) {
  const auto low = static_cast<double>(q.lowest);
  const auto high = static_cast<double>(q.highest);
  for (int64_t i = 0; i < count; ++i) {
    const double product = static_cast<double>(in[i]) * q.inverse;
    const double sum = product + q.zero_point;
    const double inside = std::isnan(sum) ? std::clamp(0.0, low, high) : std::clamp(sum, low, high);
    out[i] = static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(inside)));
  }
}
#endif

template <class T>
HWY_INLINE void dequantize_run(const T* in, int32_t zero_point, float scale, float* out,
                               int64_t count) {
  const Tag d;
  const hn::RebindToSigned<Tag> di;
  const hn::Rebind<T, Tag> db;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(di, zero_point);
  const auto factor = hn::Set(d, scale);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto shifted = hn::Sub(hn::PromoteTo(di, hn::LoadU(db, in + i)), offset);
    hn::StoreU(hn::Mul(hn::ConvertTo(d, shifted), factor), d, out + i);
  }
  for (; i < count; ++i) out[i] = static_cast<float>(in[i] - zero_point) * scale;
}

void DequantizeUnsigned(const uint8_t* in, int32_t zero_point, float scale, float* out,
                        int64_t count) {
  dequantize_run(in, zero_point, scale, out, count);
}
void DequantizeSigned(const int8_t* in, int32_t zero_point, float scale, float* out,
                      int64_t count) {
  dequantize_run(in, zero_point, scale, out, count);
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vitrine::optimized::simd {

VITRINE_EXPORT(Quantize);
VITRINE_EXPORT(QuantizeShifted);
VITRINE_EXPORT(DequantizeUnsigned);
VITRINE_EXPORT(DequantizeSigned);

void quantize(const float* in, const Quantization& quantization, uint8_t* out, int64_t count) {
  VITRINE_DISPATCH(Quantize)(in, quantization, out, count);
}
void quantize_shifted(const float* in, const ShiftedQuantization& quantization, uint8_t* out,
                      int64_t count) {
  VITRINE_DISPATCH(QuantizeShifted)(in, quantization, out, count);
}
void dequantize(const uint8_t* in, int32_t zero_point, float scale, float* out, int64_t count) {
  VITRINE_DISPATCH(DequantizeUnsigned)(in, zero_point, scale, out, count);
}
void dequantize(const int8_t* in, int32_t zero_point, float scale, float* out, int64_t count) {
  VITRINE_DISPATCH(DequantizeSigned)(in, zero_point, scale, out, count);
}

}  // namespace vitrine::optimized::simd
#endif
