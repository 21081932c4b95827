#include <algorithm>

#include "kernels/util/scalar_arithmetic.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void add(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  binary_number(context, a, b, result, [](auto x, auto y) { return wrapping_add(x, y); });
}

void sub(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  binary_number(context, a, b, result, [](auto x, auto y) { return wrapping_sub(x, y); });
}

void mul(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  binary_number(context, a, b, result, [](auto x, auto y) { return wrapping_mul(x, y); });
}

void floordiv_int(KernelContext& context, int64_t a, int64_t b, EValue& result) {
  divide_ints(context, a, b, result, [](int64_t x, int64_t y) { return divide_floor(x, y); });
}

void floordiv(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  if (a.is_int() && b.is_int()) {
    return floordiv_int(context, a.unchecked_int(), b.unchecked_int(), result);
  }
  binary_number(context, a, b, result, [](auto x, auto y) {
    return divide_floor(static_cast<double>(x), static_cast<double>(y));
  });
}

void truediv(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  if (b.is_int() && b.unchecked_int() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "integer division by zero");
  }
  binary_number(context, a, b, result,
                [](auto x, auto y) { return static_cast<double>(x) / static_cast<double>(y); });
}

void mod(KernelContext& context, int64_t a, int64_t b, EValue& result) {
  divide_ints(context, a, b, result, [](int64_t x, int64_t y) { return remainder_floor(x, y); });
}

void neg(KernelContext& context, const EValue& a, EValue& result) {
  const std::optional<Scalar> number = read_int_or_double(context, a);
  if (!number) return;
  result = number->is_floating() ? EValue(-number->to<double>())
                                 : EValue(wrapping_neg(number->to<int64_t>()));
}

void sym_max(KernelContext&, int64_t a, int64_t b, EValue& result) {
  result = EValue(std::max(a, b));
}

void sym_min(KernelContext&, int64_t a, int64_t b, EValue& result) {
  result = EValue(std::min(a, b));
}

}  // namespace

VITRINE_KERNEL(prim_add_Scalar, "executorch_prim::add.Scalar", add);
VITRINE_KERNEL(prim_floordiv_Scalar, "executorch_prim::floordiv.Scalar", floordiv);
VITRINE_KERNEL(prim_floordiv_int, "executorch_prim::floordiv.int", floordiv_int);
VITRINE_KERNEL(prim_mod_Scalar, "executorch_prim::mod.Scalar", mod);
VITRINE_KERNEL(prim_mod_int, "executorch_prim::mod.int", mod);
VITRINE_KERNEL(prim_mul_Scalar, "executorch_prim::mul.Scalar", mul);
VITRINE_KERNEL(prim_neg_Scalar, "executorch_prim::neg.Scalar", neg);
VITRINE_KERNEL(prim_sub_Scalar, "executorch_prim::sub.Scalar", sub);
VITRINE_KERNEL(prim_sym_max_Scalar, "executorch_prim::sym_max.Scalar", sym_max);
VITRINE_KERNEL(prim_sym_min_Scalar, "executorch_prim::sym_min.Scalar", sym_min);
VITRINE_KERNEL(prim_truediv_Scalar, "executorch_prim::truediv.Scalar", truediv);

}  // namespace vitrine::portable
