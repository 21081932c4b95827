#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::sqrt(x); });
}

}  // namespace

VITRINE_KERNEL(sqrt_out, "aten::sqrt.out", sqrt_out);

}  // namespace vitrine::portable
