// Element-wise operators with two arguments and more than one formula.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "kernels/util/arithmetic.h"
#include "kernels/util/division.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

constexpr auto kQuotient = [](auto a, auto b) { return a / b; };

template <class Other>
void divide(KernelContext& context, const Tensor& self, const Other& other,
            std::optional<std::string_view> mode, Tensor& out) {
  if (!mode) {
    binary_float(context, self, other, out, kQuotient);
  } else if (*mode == "trunc") {
    divide_checked(context, self, other, out, [](auto a, auto b) { return divide_trunc(a, b); });
  } else if (*mode == "floor") {
    divide_checked(context, self, other, out, [](auto a, auto b) { return divide_floor(a, b); });
  } else {
    context.fail(ErrorCode::kInvalidArgument,
                 "rounding_mode is \"%.*s\", expected \"trunc\" or \"floor\"",
                 static_cast<int>(std::min<size_t>(mode->size(), 40)), mode->data());
  }
}

void div_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary_float(context, self, other, out, kQuotient);
}

void div_scalar_out(KernelContext& context, const Tensor& self, const Scalar& other, Tensor& out) {
  binary_float(context, self, other, out, kQuotient);
}

// Integer powers wrap around. For a negative exponent, an integer power is rounded toward zero.
template <class T>
T power(T base, T exponent) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::pow(base, exponent);
  } else {
    return integer_power(base, exponent);
  }
}

constexpr auto kPower = [](auto base, auto exponent) { return power(base, exponent); };

void pow_tensor_tensor_out(KernelContext& context, const Tensor& self, const Tensor& exponent,
                           Tensor& out) {
  binary<RealTypes>(context, self, exponent, out, kPower);
}

void pow_tensor_scalar_out(KernelContext& context, const Tensor& self, const Scalar& exponent,
                           Tensor& out) {
  const bool integers = !is_floating(promote(self.dtype(), exponent));
  if (integers && exponent.to<int64_t>() < 0) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "integers cannot have a negative exponent, got %lld",
                        static_cast<long long>(exponent.to<int64_t>()));
  }
  // For exponents of 0.5 and -0.5, PyTorch uses sqrt. std::pow differs for -0 and -infinity.
  if (!integers && exponent.to<double>() == 0.5) {
    return unary_float(context, self, out, [](auto x) { return std::sqrt(x); });
  }
  if (!integers && exponent.to<double>() == -0.5) {
    return unary_float(context, self, out, [](auto x) { return 1 / std::sqrt(x); });
  }
  binary<RealTypes>(context, self, exponent, out, kPower);
}

void pow_scalar_out(KernelContext& context, const Scalar& self, const Tensor& exponent,
                    Tensor& out) {
  binary<RealTypes>(context, exponent, self, out,
                    [](auto power_of, auto base) { return power(base, power_of); });
}

template <class Other>
void left_shift(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) {
  binary<IntTypes>(context, self, other, out, [](auto a, auto b) { return shift_left(a, b); });
}

template <class Other>
void right_shift(KernelContext& context, const Tensor& self, const Other& other, Tensor& out) {
  binary<IntTypes>(context, self, other, out, [](auto a, auto b) { return shift_right(a, b); });
}

}  // namespace

VITRINE_KERNEL(div_Scalar_mode_out, "aten::div.Scalar_mode_out", divide<Scalar>);
VITRINE_KERNEL(div_Scalar_out, "aten::div.Scalar_out", div_scalar_out);
VITRINE_KERNEL(div_out, "aten::div.out", div_out);
VITRINE_KERNEL(div_out_mode, "aten::div.out_mode", divide<Tensor>);
VITRINE_KERNEL(pow_Scalar_out, "aten::pow.Scalar_out", pow_scalar_out);
VITRINE_KERNEL(pow_Tensor_Scalar_out, "aten::pow.Tensor_Scalar_out", pow_tensor_scalar_out);
VITRINE_KERNEL(pow_Tensor_Tensor_out, "aten::pow.Tensor_Tensor_out", pow_tensor_tensor_out);
VITRINE_KERNEL(bitwise_left_shift_Tensor_Scalar_out, "aten::bitwise_left_shift.Tensor_Scalar_out",
               left_shift<Scalar>);
VITRINE_KERNEL(bitwise_left_shift_Tensor_out, "aten::bitwise_left_shift.Tensor_out",
               left_shift<Tensor>);
VITRINE_KERNEL(bitwise_right_shift_Tensor_Scalar_out, "aten::bitwise_right_shift.Tensor_Scalar_out",
               right_shift<Scalar>);
VITRINE_KERNEL(bitwise_right_shift_Tensor_out, "aten::bitwise_right_shift.Tensor_out",
               right_shift<Tensor>);
// torch.export uses these names for Python's operators << and >>.
VITRINE_KERNEL(lshift_Scalar_out, "aten::__lshift__.Scalar_out", left_shift<Scalar>);
VITRINE_KERNEL(lshift_Tensor_out, "aten::__lshift__.Tensor_out", left_shift<Tensor>);
VITRINE_KERNEL(rshift_Scalar_out, "aten::__rshift__.Scalar_out", right_shift<Scalar>);
VITRINE_KERNEL(rshift_Tensor_out, "aten::__rshift__.Tensor_out", right_shift<Tensor>);

}  // namespace vitrine::portable
