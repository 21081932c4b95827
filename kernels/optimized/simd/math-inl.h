// Functions of a vector of floats. They accept every value, unlike some of Highway's functions.
// Included once for each instruction set.
#if defined(VITRINE_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_MATH_INL_H_
#undef VITRINE_SIMD_MATH_INL_H_
#else
#define VITRINE_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V keep_nan(V x, V otherwise) {
  return hn::IfThenElse(hn::IsNaN(x), x, otherwise);
}

// The instructions of x86 return the second argument if an argument is NaN.
constexpr bool kSecondIfNan =
    HWY_ARCH_X86 != 0 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128;

// max(low, x); NaN if x is NaN.
template <class V>
HWY_INLINE V at_least(V low, V x) {
  return kSecondIfNan ? hn::Max(low, x) : hn::IfThenElse(hn::Lt(x, low), low, x);
}
// min(high, x); NaN if x is NaN.
template <class V>
HWY_INLINE V at_most(V high, V x) {
  return kSecondIfNan ? hn::Min(high, x) : hn::IfThenElse(hn::Gt(x, high), high, x);
}

template <class V>
HWY_INLINE V squared(V x) {
  return hn::Mul(x, x);
}

// 1 / sqrt(x). AVX-512 has an estimate with an error below 2^-14, also for subnormal numbers. A
// step of Newton's method reduces the error to less than one unit in the last place.
template <class D, class V>
HWY_INLINE V reciprocal_root(D d, V x) {
  const V one = hn::Set(d, 1.0F);
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const V root = hn::ApproximateReciprocalSqrt(x);
  const V error = hn::NegMulAdd(hn::Mul(x, root), root, one);
  const V better = hn::MulAdd(hn::Mul(root, hn::Set(d, 0.5F)), error, root);
  return hn::IfThenElse(hn::IsNaN(error), root, better);  // the estimate of 0 and inf is exact
#else
  return hn::Div(one, hn::Sqrt(x));
#endif
}

// Evaluates first * x^n + ... + last by Horner's rule.
template <class D, class V, class... Floats>
HWY_INLINE V polynomial(D d, V x, float first, Floats... rest) {
  V sum = hn::Set(d, first);
  ((sum = hn::MulAdd(sum, x, hn::Set(d, rest))), ...);
  return sum;
}

// e^r for |r| <= ln(2) / 2, with the polynomial of Cephes' expf.
template <class D, class V>
HWY_INLINE V exponential_near_zero(D d, V r) {
  return polynomial(d, r, 1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                    1.6666665459e-1F, 5.0000001201e-1F, 1.0F, 1.0F);
}

// Returns r where x = n ln(2) + r. ln(2) is split into two parts, so that n times the first part is
// exact.
template <class D, class V>
HWY_INLINE V reduce_exponent(D d, V x, V n) {
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  return hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
}

// 2^n for n from -126 to 127.
template <class D, class V>
HWY_INLINE hn::Vec<D> power_of_two(D d, V n) {
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(hn::DFromV<V>(), 127))));
}

// e^x = 2^n * e^r. Adding 1.5 * 2^23 rounds x / ln(2) to the integer n, which is then in the lowest
// bits of the sum. The targets without AVX-512 split 2^n into two factors, because n can be outside
// the range of power_of_two().
//
// With AVX-512, n is a multiple of 1/16, so that r is tiny. A table has 2^(k / 16) as sums of two
// floats, and an instruction multiplies by 2^floor(n).
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  HWY_ALIGN constexpr float kPowers[] = {1.0F,        1.04427373F, 1.09050775F, 1.13878858F,
                                         1.18920708F, 1.24185777F, 1.29683959F, 1.35425556F,
                                         1.41421354F, 1.47682619F, 1.54221082F, 1.61049032F,
                                         1.68179286F, 1.75625217F, 1.8340081F,  1.91520655F};
  HWY_ALIGN constexpr float kRests[] = {0.0F,        4.8335e-8F,  -1.3078e-8F, 5.3862e-8F,
                                        3.7976e-8F,  4.4968e-8F,  -4.0190e-8F, -1.0123e-8F,
                                        2.4203e-8F,  -4.5009e-8F, 8.0709e-9F,  9.8362e-9F,
                                        -2.4755e-8F, -9.2358e-9F, -1.1239e-8F, 9.8453e-9F};
  const V bias = hn::Set(d, 12582912.0F / 16);
  const V inside = at_most(hn::Set(d, 89.0F), at_least(hn::Set(d, -105.0F), x));
  const V shifted = hn::MulAdd(inside, hn::Set(d, 1.44269504088896341F), bias);
  const V n = hn::Sub(shifted, bias);
  const V r = reduce_exponent(d, inside, n);
  const auto index = _mm512_castps_si512(shifted.raw);  // the lowest four bits are used
  const V power{_mm512_permutexvar_ps(index, hn::Load(d, kPowers).raw)};
  const V rest{_mm512_permutexvar_ps(index, hn::Load(d, kRests).raw)};
  const V growth = polynomial(d, r, 1.0F / 6, 0.5F, 1.0F);
  const V result = hn::Add(power, hn::MulAdd(hn::Mul(power, r), growth, rest));
  return V{_mm512_scalef_ps(result.raw, n.raw)};
#else
  const V bias = hn::Set(d, 12582912.0F);
  const hn::RebindToSigned<D> di;
  const V inside = at_most(hn::Set(d, 89.0F), at_least(hn::Set(d, -105.0F), x));
  const V shifted = hn::MulAdd(inside, hn::Set(d, 1.44269504088896341F), bias);
  const auto n = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, bias));
  const auto half = hn::ShiftRight<1>(n);
  const V power = exponential_near_zero(d, reduce_exponent(d, inside, hn::Sub(shifted, bias)));
  return hn::Mul(hn::Mul(power, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
#endif
}

// e^x for x <= 0, for softmax. Denormal results become 0. The result for NaN is undefined.
template <class D, class V>
HWY_INLINE V exponential_of_negative_number(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V bias = hn::Set(d, 12582912.0F + 127.0F);
  const V inside = at_least(hn::Set(d, -88.0F), x);
  const V shifted = hn::MulAdd(inside, hn::Set(d, 1.44269504088896341F), bias);
  const V power = exponential_near_zero(d, reduce_exponent(d, inside, hn::Sub(shifted, bias)));
  return hn::Mul(power, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(du, shifted))));
}

// Like exponential_of_negative_number(), but NaN stays NaN.
template <class D, class V>
HWY_INLINE V exponential_of_negative(D d, V x) {
  return keep_nan(x, exponential_of_negative_number(d, x));
}

template <class D, class V>
HWY_INLINE V exponential_minus_one(D d, V x) {
  const V high = hn::Set(d, 88.72284F);
  const V low = hn::Set(d, -20.0F);
  V result = hn::Expm1(d, hn::Min(hn::Max(x, low), high));
  result =
      hn::IfThenElse(hn::Gt(x, high), hn::Set(d, std::numeric_limits<float>::infinity()), result);
  // The result for a tiny x is x. This also keeps the sign of zero.
  result = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8F)), x, result);
  return keep_nan(x, result);
}

// Corrects `result`, the logarithm of y, for infinity, 0, negative y and NaN.
template <class D, class V>
HWY_INLINE V logarithm_ends(D d, V y, V result) {
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  result = hn::IfThenElse(hn::Eq(y, infinity), infinity, result);
  result = hn::IfThenElse(hn::Eq(y, hn::Zero(d)), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Lt(y, hn::Zero(d)),
                          hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  return keep_nan(y, result);
}

template <class D, class V>
HWY_NOINLINE V logarithm_of_any(D d, V x) {
  return logarithm_ends(d, x, hn::Log(d, x));
}

// ln(x). Splits x = m 2^n with m from sqrt(1/2) to sqrt(2), and computes ln(m) with the polynomial
// of Cephes' logf.
template <class D, class V>
HWY_INLINE V logarithm(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto is_normal = hn::And(hn::Ge(x, hn::Set(d, std::numeric_limits<float>::min())),
                                 hn::Le(x, hn::Set(d, std::numeric_limits<float>::max())));
  if (HWY_UNLIKELY(!hn::AllTrue(d, is_normal))) return logarithm_of_any(d, x);
  const auto root = hn::Set(di, 0x3F3504F3);  // the bits of sqrt(1/2)
  const auto bits = hn::Sub(hn::BitCast(di, x), root);
  const V n = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
  const auto mantissa = hn::And(bits, hn::Set(di, 0x7FFFFF));
  const V y = hn::Sub(hn::BitCast(d, hn::Add(mantissa, root)), hn::Set(d, 1.0F));
  const V z = hn::Mul(y, y);
  const V p = polynomial(d, y, 7.0376836292e-2F, -1.1514610310e-1F, 1.1676998740e-1F,
                         -1.2420140846e-1F, 1.4249322787e-1F, -1.6668057665e-1F, 2.0000714765e-1F,
                         -2.4999993993e-1F, 3.3333331174e-1F);
  // Adds n ln(2). ln(2) is split as in reduce_exponent().
  V rest = hn::MulAdd(n, hn::Set(d, -2.12194440e-4F), hn::Mul(hn::Mul(p, y), z));
  rest = hn::NegMulAdd(z, hn::Set(d, 0.5F), rest);
  return hn::MulAdd(n, hn::Set(d, 0.693359375F), hn::Add(y, rest));
}

template <class D, class V>
HWY_INLINE V logarithm_of_one_more(D d, V x) {
  const V result = logarithm_ends(d, hn::Add(x, hn::Set(d, 1.0F)), hn::Log1p(d, x));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8F)), x, result);
}

// tanh(x), as an odd rational function. x is clamped to the range outside of which tanh is 1 or -1
// in float.
template <class D, class V>
HWY_INLINE V hyperbolic_tangent(D d, V x) {
  const V bound = hn::Set(d, 7.90531110763549805F);
  const V y = at_most(bound, at_least(hn::Neg(bound), x));
  const V z = hn::Mul(y, y);
  const V above = polynomial(d, z, -2.76076847742355e-16F, 2.00018790482477e-13F,
                             -8.60467152213735e-11F, 5.12229709037114e-08F, 1.48572235717979e-05F,
                             6.37261928875436e-04F, 4.89352455891786e-03F);
  const V below = polynomial(d, z, 1.19825839466702e-06F, 1.18534705686654e-04F,
                             2.26843463243900e-03F, 4.89352518554385e-03F);
  V result = hn::Div(hn::Mul(y, above), below);
  // Returns exactly 1 for large x, so that expressions such as 1 - tanh(x) cancel to 0.
  const V one = hn::CopySign(hn::Set(d, 1.0F), x);
  result = hn::IfThenElse(hn::Gt(hn::Abs(x), hn::Set(d, 9.0F)), one, result);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 4e-4F)), x, result);
}

// Returns r where x = n pi/2 + r. pi/2 is split into four parts. Subtracting n times the first or
// second part is exact. Without fused multiply-add, the third part has only 16 bits and n has at
// most 8 bits, so their product is exact.
constexpr bool kFused = HWY_NATIVE_FMA != 0;
constexpr float kLargestAngle = kFused ? 131072.0F : 400.0F;

template <class D, class V>
HWY_INLINE V reduce_angle(D d, V x, V n) {
  V r = hn::NegMulAdd(n, hn::Set(d, 0x1.922p0F), x);
  r = hn::NegMulAdd(n, hn::Set(d, -0x1.2cp-18F), r);
  r = hn::NegMulAdd(n, hn::Set(d, kFused ? 0x1.110b46p-26F : 0x1.110cp-26F), r);
  return hn::NegMulAdd(n, hn::Set(d, kFused ? 0x1.1a6264p-54F : -0x1.73dcb4p-43F), r);
}

// Uses the scalar function for angles above kLargestAngle.
template <class D, class V>
HWY_NOINLINE V sine_of_large(D d, V x, V result, bool cosine) {
  HWY_ALIGN float angles[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float results[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, angles);
  hn::Store(result, d, results);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (std::abs(angles[i]) <= kLargestAngle) continue;
    results[i] = cosine ? std::cos(angles[i]) : std::sin(angles[i]);
  }
  return hn::Load(d, results);
}

// sin(x) if `quarters` is 0, cos(x) if `quarters` is 1. The polynomials are those of Cephes' sinf
// and cosf.
template <class D, class V>
HWY_NOINLINE V sine(D d, V x, V quarters) {
  const hn::RebindToSigned<D> di;
  const V size = hn::Abs(x);
  const V bias = hn::Set(d, 12582912.0F);  // rounds, as in exponential()
  const V shifted = hn::MulAdd(size, hn::Set(d, 0.636619772367581343F), bias);
  const V r = reduce_angle(d, size, hn::Sub(shifted, bias));
  const V z = hn::Mul(r, r);
  V odd = polynomial(d, z, -1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F);
  odd = hn::MulAdd(odd, hn::Mul(z, r), r);
  V even = polynomial(d, z, 2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F);
  even = hn::MulAdd(even, hn::Mul(z, z), hn::NegMulAdd(z, hn::Set(d, 0.5F), hn::Set(d, 1.0F)));
  const auto quarter = hn::BitCast(di, hn::Add(shifted, quarters));
  const auto is_even = hn::MaskFromVec(hn::BitCast(d, hn::Neg(hn::And(quarter, hn::Set(di, 1)))));
  // The result is negated in two of the four quarters. The sine of a negative x is negated again.
  const auto sign = hn::BitCast(d, hn::ShiftLeft<31>(hn::ShiftRight<1>(quarter)));
  const V sign_of_x = hn::IfThenElseZero(hn::Eq(quarters, hn::Zero(d)), x);
  const V flips = hn::And(hn::Xor(sign, sign_of_x), hn::SignBit(d));
  const V result = hn::Xor(hn::IfThenElse(is_even, even, odd), flips);
  if (HWY_LIKELY(hn::AllFalse(d, hn::Gt(size, hn::Set(d, kLargestAngle))))) return result;
  return sine_of_large(d, x, result, hn::GetLane(quarters) != 0.0F);
}

template <class D, class V>
HWY_INLINE V logistic(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(x))));
}

// erf(x), as x times a rational function of x^2, fitted to [-4, 4]. Outside this range, erf is 1 or
// -1 in float.
template <class D, class V>
HWY_INLINE V error_function(D d, V x) {
  const V bound = hn::Set(d, 4.0F);
  const V y = at_most(bound, at_least(hn::Neg(bound), x));
  const V z = hn::Mul(y, y);
  const V above = polynomial(d, z, -2.72614225801306e-10F, 2.77068142495902e-08F,
                             -2.10102402082508e-06F, -5.69250639462346e-05F, -7.34990630326855e-04F,
                             -2.95459980854025e-03F, -1.60960333262415e-02F);
  const V below =
      polynomial(d, z, -1.45660718464996e-05F, -2.13374055278905e-04F, -1.68282697438203e-03F,
                 -7.37332916720468e-03F, -1.42647390514189e-02F);
  const V tiny = hn::Mul(x, hn::Set(d, 1.1283791670955126F));  // 2 / sqrt(pi)
  V result = hn::Div(hn::Mul(y, above), below);
  const V one = hn::CopySign(hn::Set(d, 1.0F), x);
  result = hn::IfThenElse(hn::Gt(hn::Abs(x), bound), one, result);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-4F)), tiny, result);
}

// x (1 + erf(x / sqrt(2))) / 2. The coefficients are those of error_function(), scaled.
template <class D, class V>
HWY_INLINE V gelu_exact(D d, V x) {
  const V bound = hn::Set(d, 5.65685415F);  // 4 sqrt(2)
  const V half = hn::Set(d, 0.5F);
  const V y = hn::Min(hn::Max(x, hn::Neg(bound)), bound);
  const V z = hn::Mul(y, y);
  const V above = polynomial(d, z, -1.50599509e-12F, 3.06119935e-10F, -4.64265071e-08F,
                             -2.51575602e-06F, -6.49646099e-05F, -0.000522304385F, -0.00569080701F);
  const V below = polynomial(d, z, -9.1037947e-07F, -2.66717561e-05F, -0.000420706754F,
                             -0.00368666463F, -0.0142647391F);
  V erf = hn::Div(hn::Mul(y, above), below);
  erf = hn::IfThenElse(hn::Gt(hn::Abs(x), bound), hn::CopySign(half, x), erf);
  return hn::Mul(x, hn::Add(half, erf));
}

template <class D, class V>
HWY_INLINE V gelu_approximated(D d, V x) {
  const V cube = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 0.044715F), x), x), x);
  const V inner = hn::Mul(hn::Set(d, 0.79788456080286536F), hn::Add(x, cube));
  return hn::Mul(hn::Mul(x, hn::Set(d, 0.5F)),
                 hn::Add(hn::Set(d, 1.0F), hyperbolic_tangent(d, inner)));
}

}  // namespace vitrine::optimized::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
