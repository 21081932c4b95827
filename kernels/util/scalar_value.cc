#include "kernels/util/scalar_value.h"

#include <cmath>
#include <limits>

#include "vitrine/half.h"

namespace vitrine {

namespace {

double max_value(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::kHalf:
      return 65504.0;
    case ScalarType::kBFloat16:
      return 0x1.fep127;
    case ScalarType::kFloat:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

bool fits_integral(const Scalar& scalar, ScalarType dtype) {
  const int bits = static_cast<int>(element_size(dtype)) * 8;
  if (scalar.is_floating()) {
    const double value = scalar.to<double>();
    const double limit = std::ldexp(1.0, dtype == ScalarType::kByte ? bits : bits - 1);
    return value < limit && value >= (dtype == ScalarType::kByte ? -limit + 1 : -limit);
  }
  if (bits == 64) return true;
  const int64_t limit = int64_t{1} << (dtype == ScalarType::kByte ? bits : bits - 1);
  const int64_t value = scalar.to<int64_t>();
  return value < limit && value >= (dtype == ScalarType::kByte ? -limit + 1 : -limit);
}

}  // namespace

bool fits_exactly(const Scalar& scalar, ScalarType dtype) {
  if (is_integral(dtype)) return fits_integral(scalar, dtype);
  if (!is_floating(dtype)) return true;
  const double value = scalar.to<double>();
  return !std::isfinite(value) || std::fabs(value) <= max_value(dtype);
}

Scalar rounded(const Scalar& scalar, ScalarType dtype) {
  const auto value = scalar.to<float>();
  if (dtype == ScalarType::kHalf) return static_cast<double>(Half(value));
  if (dtype == ScalarType::kBFloat16) return static_cast<double>(BFloat16(value));
  return scalar;
}

void fail_large_scalar(KernelContext& context, const Scalar& scalar, ScalarType dtype,
                       const char* name) {
  context.fail(ErrorCode::kInvalidArgument, "%s is %g, which %s cannot hold", name,
               scalar.to<double>(), scalar_type_name(dtype));
}

}  // namespace vitrine
