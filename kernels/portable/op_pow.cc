// Integers stay integers and wrap around; a fraction of them (a negative power) becomes 0.
#include <cmath>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

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
                        "integers have no negative integer powers: exponent %lld",
                        static_cast<long long>(exponent.to<int64_t>()));
  }
  // PyTorch's result, which differs from std::pow for negative zero and infinity.
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

}  // namespace

VITRINE_KERNEL(pow_Scalar_out, "aten::pow.Scalar_out", pow_scalar_out);
VITRINE_KERNEL(pow_Tensor_Scalar_out, "aten::pow.Tensor_Scalar_out", pow_tensor_scalar_out);
VITRINE_KERNEL(pow_Tensor_Tensor_out, "aten::pow.Tensor_Tensor_out", pow_tensor_tensor_out);

}  // namespace vitrine::portable
