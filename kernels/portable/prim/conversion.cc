#include <cmath>

#include "kernels/util/scalar_arithmetic.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void set_int(KernelContext& context, double value, EValue& result) {
  if (const std::optional<int64_t> integer = to_int(context, value)) result = EValue(*integer);
}

void sym_float(KernelContext& context, const EValue& a, EValue& result) {
  if (const std::optional<Scalar> number = read_number(context, a)) {
    result = EValue(number->to<double>());
  }
}

void sym_int(KernelContext& context, const EValue& a, EValue& result) {
  const std::optional<Scalar> number = read_number(context, a);
  if (!number) return;
  if (number->is_floating()) return set_int(context, std::trunc(number->to<double>()), result);
  result = EValue(number->to<int64_t>());
}

void sym_not(KernelContext&, bool a, EValue& result) { result = EValue(!a); }

void sym_ite(KernelContext& context, bool condition, const EValue& a, const EValue& b,
             EValue& result) {
  const EValue& chosen = condition ? a : b;
  if (read_number(context, chosen)) result = chosen;
}

void ceil(KernelContext& context, double a, EValue& result) {
  set_int(context, std::ceil(a), result);
}

void round(KernelContext& context, double a, EValue& result) {
  set_int(context, std::nearbyint(a), result);  // rounds halves to even, as in Python
}

void trunc(KernelContext& context, double a, EValue& result) {
  set_int(context, std::trunc(a), result);
}

}  // namespace

VITRINE_KERNEL(prim_ceil_Scalar, "executorch_prim::ceil.Scalar", ceil);
VITRINE_KERNEL(prim_round_Scalar, "executorch_prim::round.Scalar", round);
VITRINE_KERNEL(prim_sym_float_Scalar, "executorch_prim::sym_float.Scalar", sym_float);
VITRINE_KERNEL(prim_sym_int_Scalar, "executorch_prim::sym_int.Scalar", sym_int);
VITRINE_KERNEL(prim_sym_ite_Scalar, "executorch_prim::sym_ite.Scalar", sym_ite);
VITRINE_KERNEL(prim_sym_not_Scalar, "executorch_prim::sym_not.Scalar", sym_not);
VITRINE_KERNEL(prim_trunc_Scalar, "executorch_prim::trunc.Scalar", trunc);

}  // namespace vitrine::portable
