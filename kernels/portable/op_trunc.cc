#include <cmath>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void trunc_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out,
                   [](auto x) { return rounded(x, [](auto y) { return std::trunc(y); }); });
}

}  // namespace

VITRINE_KERNEL(trunc_out, "aten::trunc.out", trunc_out);

}  // namespace vitrine::portable
