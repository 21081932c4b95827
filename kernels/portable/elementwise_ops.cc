// Kernels of one formula: the rows of kernel_list.inc that have one. A selective build has its own
// list, so that only what it selects is compiled.
#include <cmath>

#include "kernels/util/division.h"
#include "kernels/util/elementwise.h"
#include "kernels/util/scaled_sum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

// A formula has static storage: its address is a constant.
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
