// NaN wins.
#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void maximum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary<RealBTypes>(context, self, other, out, [](auto a, auto b) { return larger(a, b); });
}

}  // namespace

VITRINE_KERNEL(maximum_out, "aten::maximum.out", maximum_out);

}  // namespace vitrine::portable
