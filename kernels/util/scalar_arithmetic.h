// Arithmetic of single numbers: the operators that shapes and loop counters are computed with. They
// follow Python, whose programs they were traced from, on 64-bit integers that wrap around.
#pragma once

#include <optional>

#include "kernels/util/arithmetic.h"
#include "vitrine/evalue.h"
#include "vitrine/kernel_context.h"
#include "vitrine/scalar.h"

namespace vitrine {

// The Int, Double or Bool of `value`; fails the context with InvalidType on another kind.
[[nodiscard]] std::optional<Scalar> read_number(KernelContext& context, const EValue& value);
// The same without Bool.
[[nodiscard]] std::optional<Scalar> read_int_or_double(KernelContext& context, const EValue& value);

// result = op(a, b) of two Ints or, if one of them is a Double, of two Doubles.
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

// As binary_number on Ints; fails on the divisor 0.
template <class Op>
void divide_ints(KernelContext& context, int64_t a, int64_t b, EValue& result, const Op& op) {
  if (b == 0) return context.fail(ErrorCode::kInvalidArgument, "integer division by zero");
  result = EValue(op(a, b));
}

// Converts a double to an integer; fails the context if it is not one.
[[nodiscard]] std::optional<int64_t> to_int(KernelContext& context, double value);

}  // namespace vitrine
