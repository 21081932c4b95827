// Kernels of kernel_list.inc that consist of one formula.
#include <cmath>
#include <limits>

#include "kernels/util/division.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/scaled_sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

// The inverse of erf as in PyTorch: a rational approximation, then two steps of Newton's method.
template <class T>
T inverse_erf(T y) {
  const T magnitude = std::fabs(y);
  if (magnitude > T(1)) return std::numeric_limits<T>::quiet_NaN();
  if (magnitude == T(1)) return std::copysign(std::numeric_limits<T>::infinity(), y);
  T x;
  if (magnitude <= T(0.7)) {
    const T z = y * y;
    const T numerator =
        ((T(-0.140543331) * z + T(0.914624893)) * z + T(-1.645349621)) * z + T(0.886226899);
    const T denominator =
        (((T(0.012229801) * z + T(-0.329097515)) * z + T(1.442710462)) * z + T(-2.118377725)) * z +
        T(1);
    x = y * numerator / denominator;
  } else {
    const T z = std::sqrt(-std::log((T(1) - magnitude) / T(2)));
    const T numerator =
        ((T(1.641345311) * z + T(3.429567803)) * z + T(-1.624906493)) * z + T(-1.970840454);
    x = std::copysign(numerator, y) / ((T(1.637067800) * z + T(3.543889200)) * z + T(1));
  }
  constexpr auto kSlope = static_cast<T>(1.1283791670955126);  // 2 / sqrt(pi)
  for (int i = 0; i < 2; ++i) x -= (std::erf(x) - y) / (kSlope * std::exp(-x * x));
  return x;
}

#define X(id)
#define UNARY(id, operator_name, family, ...)                               \
  static void id(KernelContext& context, const Tensor& self, Tensor& out) { \
    static constexpr auto kFormula = [](auto x) { return __VA_ARGS__; };    \
    family(context, self, out, kFormula);                                   \
  }                                                                         \
  VITRINE_KERNEL(id, operator_name, id);
#define BINARY(id, operator_name, family, Other, ...)                                           \
  static void id(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) { \
    static constexpr auto kFormula = [](auto a, auto b) { return __VA_ARGS__; };                \
    family(context, self, other, out, kFormula);                                                \
  }                                                                                             \
  VITRINE_KERNEL(id, operator_name, id);
#define SCALED(id, operator_name, Types, Other, ...)                                         \
  static void id(KernelContext& context, const Tensor& self, const Other& other,             \
                 const Scalar& scale, Tensor& out) {                                         \
    static constexpr auto kFormula = [](auto a, auto b, auto alpha) { return __VA_ARGS__; }; \
    scaled_sum<Types>(context, self, other, scale, out, kFormula);                           \
  }                                                                                          \
  VITRINE_KERNEL(id, operator_name, id);

#include "kernels/portable/kernel_list.inc"

#undef X
#undef UNARY
#undef BINARY
#undef SCALED

}  // namespace vitrine::portable
