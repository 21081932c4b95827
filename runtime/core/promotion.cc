#include "runtime/core/promotion.h"

#include <algorithm>

namespace vitrine {

namespace {

enum : int { kNone, kBools, kIntegral, kFloating, kComplex };

// Bytes of a floating-point number, or of the real part of a complex number. 0 for other dtypes.
size_t real_size(ScalarType type) {
  if (is_floating(type)) return element_size(type);
  return is_complex(type) ? element_size(type) / 2 : 0;
}

bool is_wide_unsigned(ScalarType type) {
  return type == ScalarType::kUInt16 || type == ScalarType::kUInt32 || type == ScalarType::kUInt64;
}

ScalarType promote_integral(ScalarType a, ScalarType b) {
  // Byte is the only unsigned type here. Byte and Char become Short.
  const bool byte_and_char = std::max(a, b) == ScalarType::kChar;
  return byte_and_char ? ScalarType::kShort : std::max(a, b);
}

ScalarType promote_floating(ScalarType a, ScalarType b) {
  if (real_size(a) == real_size(b)) return ScalarType::kFloat;  // Half with BFloat16
  return real_size(a) > real_size(b) ? a : b;
}

ScalarType promote_complex(ScalarType a, ScalarType b) {
  const size_t bytes = std::max(real_size(a), real_size(b));
  // ComplexHalf cannot represent the range of BFloat16.
  const bool bfloat16 = a == ScalarType::kBFloat16 || b == ScalarType::kBFloat16;
  if (bytes == 2 && !bfloat16) return ScalarType::kComplexHalf;
  return bytes <= 4 ? ScalarType::kComplexFloat : ScalarType::kComplexDouble;
}

}  // namespace

int promotion_category(ScalarType type) {
  if (type == ScalarType::kBool) return kBools;
  if (is_integral(type)) return kIntegral;
  if (is_floating(type)) return kFloating;
  return is_complex(type) ? kComplex : kNone;
}

std::optional<ScalarType> promote_types(ScalarType a, ScalarType b) {
  if (a == b) return a;
  const int category_a = promotion_category(a);
  const int category_b = promotion_category(b);
  if (category_a == kNone || category_b == kNone) {
    if (is_wide_unsigned(a) && category_b == kFloating) return b;
    if (is_wide_unsigned(b) && category_a == kFloating) return a;
    return std::nullopt;
  }
  if (category_a == kComplex || category_b == kComplex) return promote_complex(a, b);
  if (category_a != category_b) return category_a > category_b ? a : b;
  return category_a == kIntegral ? promote_integral(a, b) : promote_floating(a, b);
}

}  // namespace vitrine
