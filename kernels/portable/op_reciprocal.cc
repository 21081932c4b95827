#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void reciprocal_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return 1 / x; });
}

}  // namespace

VITRINE_KERNEL(reciprocal_out, "aten::reciprocal.out", reciprocal_out);

}  // namespace vitrine::portable
