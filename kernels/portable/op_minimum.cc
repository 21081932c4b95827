// NaN wins.
#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void minimum_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary<RealBTypes>(context, self, other, out, [](auto a, auto b) { return smaller(a, b); });
}

}  // namespace

VITRINE_KERNEL(minimum_out, "aten::minimum.out", minimum_out);

}  // namespace vitrine::portable
