// Arithmetic on single numbers, for shapes and loop counters. The results are those of Python,
// except that 64-bit integers wrap around.
#pragma once

#include <optional>

#include "kernels/util/arithmetic.h"
#include "vitrine/evalue.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"

namespace vitrine {

// Reads an Int, Double or Bool. Fails the context with InvalidType on other values.
[[nodiscard]] std::optional<Scalar> read_number(KernelContext& context, const EValue& value);
// Reads an Int or Double. Fails the context with InvalidType on other values.
[[nodiscard]] std::optional<Scalar> read_int_or_double(KernelContext& context, const EValue& value);

// Sets result = op(a, b). Computes with Doubles if a or b is a Double, otherwise with Ints.
template <class Op>
void binary_number(KernelContext& context, const EValue& a, const EValue& b, EValue& result,
                   const Op& op) {
  const std::optional<Scalar> left = read_int_or_double(context, a);
  const std::optional<Scalar> right = read_int_or_double(context, b);
  if (!left || !right) return;
  if (left->is_floating() || right->is_floating()) {
    result = EValue(op(left->to<double>(), right->to<double>()));
  } else {
    result = EValue(op(left->to<int64_t>(), right->to<int64_t>()));
  }
}

// Sets result = op(a, b). Fails if b is 0.
template <class Op>
void divide_ints(KernelContext& context, int64_t a, int64_t b, EValue& result, const Op& op) {
  if (b == 0) return context.fail(ErrorCode::kInvalidArgument, "integer division by zero");
  result = EValue(op(a, b));
}

// Truncates a double. Fails the context if the value does not fit.
[[nodiscard]] std::optional<int64_t> to_int(KernelContext& context, double value);

}  // namespace vitrine
