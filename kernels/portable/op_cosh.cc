#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void cosh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::cosh(x); });
}

}  // namespace

VITRINE_KERNEL(cosh_out, "aten::cosh.out", cosh_out);

}  // namespace vitrine::portable
