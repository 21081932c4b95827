#include <functional>

#include "kernels/util/scalar_arithmetic.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

template <class Compare>
void compare(KernelContext& context, const EValue& a, const EValue& b, EValue& result) {
  const std::optional<Scalar> left = read_number(context, a);
  const std::optional<Scalar> right = read_number(context, b);
  if (!left || !right) return;
  if (left->is_bool() != right->is_bool()) {
    return context.fail(ErrorCode::kInvalidType, "a Bool cannot be compared with a number");
  }
  if (left->is_floating() || right->is_floating()) {
    result = EValue(Compare()(left->to<double>(), right->to<double>()));
  } else {
    result = EValue(Compare()(left->to<int64_t>(), right->to<int64_t>()));
  }
}

}  // namespace

VITRINE_KERNEL(prim_eq_Scalar, "executorch_prim::eq.Scalar", compare<std::equal_to<>>);
VITRINE_KERNEL(prim_ge_Scalar, "executorch_prim::ge.Scalar", compare<std::greater_equal<>>);
VITRINE_KERNEL(prim_gt_Scalar, "executorch_prim::gt.Scalar", compare<std::greater<>>);
VITRINE_KERNEL(prim_le_Scalar, "executorch_prim::le.Scalar", compare<std::less_equal<>>);
VITRINE_KERNEL(prim_lt_Scalar, "executorch_prim::lt.Scalar", compare<std::less<>>);

}  // namespace vitrine::portable
