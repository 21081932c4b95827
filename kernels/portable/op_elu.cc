// scale * (x > 0 ? x : alpha * (exp(input_scale * x) - 1))
#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void elu_out(KernelContext& context, const Tensor& self, const Scalar& alpha, const Scalar& scale,
             const Scalar& input_scale, Tensor& out) {
  const double positive = scale.to<double>();
  const double negative = alpha.to<double>() * positive;
  const double inner = input_scale.to<double>();
  unary_floating(context, self, out, [=](auto x) {
    using T = decltype(x);
    return x > 0 ? x * static_cast<T>(positive)
                 : std::expm1(x * static_cast<T>(inner)) * static_cast<T>(negative);
  });
}

}  // namespace

VITRINE_KERNEL(elu_out, "aten::elu.out", elu_out);

}  // namespace vitrine::portable
