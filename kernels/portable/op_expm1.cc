#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void expm1_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::expm1(x); });
}

}  // namespace

VITRINE_KERNEL(expm1_out, "aten::expm1.out", expm1_out);

}  // namespace vitrine::portable
