// Functions of a vector of floats, for every value: what Highway's leave open (infinities, NaN,
// beyond their range) is settled here. Included once for each instruction set.
#if defined(VITRINE_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VITRINE_SIMD_MATH_INL_H_
#undef VITRINE_SIMD_MATH_INL_H_
#else
#define VITRINE_SIMD_MATH_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

HWY_BEFORE_NAMESPACE();
namespace vitrine::optimized::simd::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V keep_nan(V x, V otherwise) {
  return hn::IfThenElse(hn::IsNaN(x), x, otherwise);
}

template <class V>
HWY_INLINE V squared(V x) {
  return hn::Mul(x, x);
}

template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  const V high = hn::Set(d, 88.72284F);  // above it there is infinity
  const V low = hn::Set(d, -104.0F);     // below it there is zero
  const V inside = hn::Min(hn::Max(x, low), high);
  V result = hn::Exp(d, inside);
  result =
      hn::IfThenElse(hn::Gt(x, high), hn::Set(d, std::numeric_limits<float>::infinity()), result);
  result = hn::IfThenZeroElse(hn::Lt(x, low), result);
  return keep_nan(x, result);
}

template <class D, class V>
HWY_INLINE V exponential_minus_one(D d, V x) {
  const V high = hn::Set(d, 88.72284F);
  const V low = hn::Set(d, -20.0F);
  V result = hn::Expm1(d, hn::Min(hn::Max(x, low), high));
  result =
      hn::IfThenElse(hn::Gt(x, high), hn::Set(d, std::numeric_limits<float>::infinity()), result);
  // Keeps the sign of zero, and tiny numbers.
  result = hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8F)), x, result);
  return keep_nan(x, result);
}

// `y` is x, or x + 1 for log1p: what decides about the ends.
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
HWY_INLINE V logarithm(D d, V x) {
  return logarithm_ends(d, x, hn::Log(d, x));
}

template <class D, class V>
HWY_INLINE V logarithm_of_one_more(D d, V x) {
  const V result = logarithm_ends(d, hn::Add(x, hn::Set(d, 1.0F)), hn::Log1p(d, x));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-8F)), x, result);
}

template <class D, class V>
HWY_INLINE V hyperbolic_tangent(D d, V x) {
  const V bound = hn::Set(d, 10.0F);  // from here on it is 1 in float
  const V result = hn::Tanh(d, hn::Min(hn::Max(x, hn::Neg(bound)), bound));
  return keep_nan(x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-4F)), x, result));
}

template <class D, class V>
HWY_INLINE V logistic(D d, V x) {
  const V one = hn::Set(d, 1.0F);
  return hn::Div(one, hn::Add(one, exponential(d, hn::Neg(x))));
}

// A rational function of x squared, fitted to [-4, 4], beyond which erf is 1 in float.
template <class D, class V>
HWY_INLINE V error_function(D d, V x) {
  const V bound = hn::Set(d, 4.0F);
  const V y = hn::Min(hn::Max(x, hn::Neg(bound)), bound);
  const V z = hn::Mul(y, y);
  V above = hn::Set(d, -2.72614225801306e-10F);
  above = hn::MulAdd(above, z, hn::Set(d, 2.77068142495902e-08F));
  above = hn::MulAdd(above, z, hn::Set(d, -2.10102402082508e-06F));
  above = hn::MulAdd(above, z, hn::Set(d, -5.69250639462346e-05F));
  above = hn::MulAdd(above, z, hn::Set(d, -7.34990630326855e-04F));
  above = hn::MulAdd(above, z, hn::Set(d, -2.95459980854025e-03F));
  above = hn::MulAdd(above, z, hn::Set(d, -1.60960333262415e-02F));
  V below = hn::Set(d, -1.45660718464996e-05F);
  below = hn::MulAdd(below, z, hn::Set(d, -2.13374055278905e-04F));
  below = hn::MulAdd(below, z, hn::Set(d, -1.68282697438203e-03F));
  below = hn::MulAdd(below, z, hn::Set(d, -7.37332916720468e-03F));
  below = hn::MulAdd(below, z, hn::Set(d, -1.42647390514189e-02F));
  const V tiny = hn::Mul(x, hn::Set(d, 1.1283791670955126F));  // 2 / sqrt(pi)
  const V result = hn::Div(hn::Mul(y, above), below);
  return keep_nan(x, hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-4F)), tiny, result));
}

template <class D, class V>
HWY_INLINE V gelu_exact(D d, V x) {
  const V half = hn::Mul(x, hn::Set(d, 0.5F));
  const V erf = error_function(d, hn::Mul(x, hn::Set(d, 0.70710678118654752F)));
  return hn::Mul(half, hn::Add(hn::Set(d, 1.0F), erf));
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
