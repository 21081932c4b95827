#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void abs_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out, [](auto x) { return absolute(x); });
}

}  // namespace

VITRINE_KERNEL(abs_out, "aten::abs.out", abs_out);

}  // namespace vitrine::portable
