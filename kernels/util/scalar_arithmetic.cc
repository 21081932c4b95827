#include "kernels/util/scalar_arithmetic.h"

namespace vitrine {

std::optional<Scalar> read_number(KernelContext& context, const EValue& value) {
  if (value.is_int()) return Scalar(value.unchecked_int());
  if (value.is_double()) return Scalar(value.unchecked_double());
  if (value.is_bool()) return Scalar(value.unchecked_bool());
  context.fail(ErrorCode::kInvalidType, "an argument is %s, expected a number",
               tag_name(value.tag()));
  return std::nullopt;
}

std::optional<Scalar> read_int_or_double(KernelContext& context, const EValue& value) {
  if (!value.is_bool()) return read_number(context, value);
  context.fail(ErrorCode::kInvalidType, "an argument is Bool, expected Int or Double");
  return std::nullopt;
}

std::optional<int64_t> to_int(KernelContext& context, double value) {
  if (value >= -0x1p63 && value < 0x1p63) return static_cast<int64_t>(value);
  context.fail(ErrorCode::kInvalidArgument, "%g does not fit in a 64-bit integer", value);
  return std::nullopt;
}

}  // namespace vitrine
