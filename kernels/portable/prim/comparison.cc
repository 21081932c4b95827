// executorch_prim::eq, gt, lt, ge, le
#include "kernels/util/scalar_arithmetic.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class Compare>
void compare_numbers(KernelContext& context, const EValue& a, const EValue& b, EValue& result,
                     const Compare& compare) {
  const std::optional<Scalar> left = read_number(context, a);
  const std::optional<Scalar> right = read_number(context, b);
  if (!left || !right) return;
  if (left->is_bool() != right->is_bool()) {
    return context.fail(ErrorCode::kInvalidType, "a Bool is compared with a number");
  }
  if (left->is_floating() || right->is_floating()) {
    result = EValue(compare(left->to<double>(), right->to<double>()));
  } else {
    result = EValue(compare(left->to<int64_t>(), right->to<int64_t>()));
  }
}

void eq(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  compare_numbers(context, a, b, result, [](auto x, auto y) { return x == y; });
}

void gt(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  compare_numbers(context, a, b, result, [](auto x, auto y) { return x > y; });
}

void lt(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  compare_numbers(context, a, b, result, [](auto x, auto y) { return x < y; });
}

void ge(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  compare_numbers(context, a, b, result, [](auto x, auto y) { return x >= y; });
}

void le(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  compare_numbers(context, a, b, result, [](auto x, auto y) { return x <= y; });
}

}  // namespace

VITRINE_KERNEL(prim_eq_Scalar, "executorch_prim::eq.Scalar", eq);
VITRINE_KERNEL(prim_ge_Scalar, "executorch_prim::ge.Scalar", ge);
VITRINE_KERNEL(prim_gt_Scalar, "executorch_prim::gt.Scalar", gt);
VITRINE_KERNEL(prim_le_Scalar, "executorch_prim::le.Scalar", le);
VITRINE_KERNEL(prim_lt_Scalar, "executorch_prim::lt.Scalar", lt);

}  // namespace vitrine::portable
