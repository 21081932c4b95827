#include "kernels/util/promotion.h"

namespace vitrine {

std::optional<ScalarType> promote_different(KernelContext& context, ScalarType a, ScalarType b) {
  const std::optional<ScalarType> common = promote_types(a, b);
  if (!common) {
    context.fail(ErrorCode::kInvalidArgument, "dtypes %s and %s have no common dtype",
                 scalar_type_name(a), scalar_type_name(b));
  }
  return common;
}

ScalarType promote(ScalarType tensor, const Scalar& scalar) {
  if (scalar.is_floating()) return promote_to_float(tensor);
  return tensor == ScalarType::kBool && !scalar.is_bool() ? ScalarType::kLong : tensor;
}

bool can_cast(ScalarType from, ScalarType to) {
  if (from == to) return true;
  const int category_from = promotion_category(from);
  const int category_to = promotion_category(to);
  if (category_from == 0 || category_to == 0) return false;
  // Widths and signs do not matter. For example, Long can be cast to Byte.
  return category_from <= category_to;
}

}  // namespace vitrine
