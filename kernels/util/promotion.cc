#include "kernels/util/promotion.h"

#include <algorithm>

namespace vitrine {

namespace {

// Bool < integral < floating < complex; 0 for the dtypes that do not promote.
int category(ScalarType type) {
  if (type == ScalarType::kBool) return 1;
  if (is_integral(type)) return 2;
  if (is_floating(type)) return 3;
  if (is_complex(type)) return 4;
  return 0;
}

// Bytes of the real numbers that a floating or complex dtype is made of; 0 for the others.
size_t real_size(ScalarType type) {
  if (is_floating(type)) return element_size(type);
  return is_complex(type) ? element_size(type) / 2 : 0;
}

ScalarType promote_integral(ScalarType a, ScalarType b) {
  // Byte is the only unsigned one; against Char neither holds the other.
  const bool byte_and_char = (a == ScalarType::kByte && b == ScalarType::kChar) ||
                             (a == ScalarType::kChar && b == ScalarType::kByte);
  return byte_and_char ? ScalarType::kShort : std::max(a, b);
}

ScalarType promote_floating(ScalarType a, ScalarType b) {
  if (real_size(a) == real_size(b)) return ScalarType::kFloat;  // Half with BFloat16
  return real_size(a) > real_size(b) ? a : b;
}

// With complex numbers only the real size counts; integers and Bool bring none.
ScalarType promote_complex(ScalarType a, ScalarType b) {
  const size_t bytes = std::max(real_size(a), real_size(b));
  // BFloat16 has more range than ComplexHalf.
  const bool bfloat16 = a == ScalarType::kBFloat16 || b == ScalarType::kBFloat16;
  if (bytes == 2 && !bfloat16) return ScalarType::kComplexHalf;
  return bytes <= 4 ? ScalarType::kComplexFloat : ScalarType::kComplexDouble;
}

}  // namespace

std::optional<ScalarType> promote(ScalarType a, ScalarType b) {
  if (a == b) return a;
  const int category_a = category(a);
  const int category_b = category(b);
  if (category_a == 0 || category_b == 0) return std::nullopt;
  if (category_a == 4 || category_b == 4) return promote_complex(a, b);
  if (category_a != category_b) return category_a > category_b ? a : b;
  return category_a == 2 ? promote_integral(a, b) : promote_floating(a, b);
}

std::optional<ScalarType> promote_different(KernelContext& context, ScalarType a, ScalarType b) {
  const std::optional<ScalarType> common = promote(a, b);
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
  const int category_from = category(from);
  const int category_to = category(to);
  if (category_from == 0 || category_to == 0) return false;
  // Integers of any width and sign convert into each other.
  return category_from <= category_to;
}

}  // namespace vitrine
