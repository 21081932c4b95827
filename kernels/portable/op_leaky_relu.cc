#include "kernels/util/elementwise.h"
#include "kernels/util/scalar_value.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void leaky_relu_out(KernelContext& context, const Tensor& self, const Scalar& negative_slope,
                    Tensor& out) {
  if (!check_scalar(context, negative_slope, self.dtype(), "negative_slope")) return;
  const double slope = negative_slope.to<double>();
  unary_floating(context, self, out,
                 [slope](auto x) { return x > 0 ? x : x * static_cast<decltype(x)>(slope); });
}

}  // namespace

VITRINE_KERNEL(leaky_relu_out, "aten::leaky_relu.out", leaky_relu_out);

}  // namespace vitrine::portable
