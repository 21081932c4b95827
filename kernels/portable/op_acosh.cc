#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void acosh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::acosh(x); });
}

}  // namespace

VITRINE_KERNEL(acosh_out, "aten::acosh.out", acosh_out);

}  // namespace vitrine::portable
