#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void neg_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out, [](auto x) { return wrapping_neg(x); });
}

}  // namespace

VITRINE_KERNEL(neg_out, "aten::neg.out", neg_out);

}  // namespace vitrine::portable
