#include <cmath>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void ceil_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out,
                   [](auto x) { return rounded(x, [](auto y) { return std::ceil(y); }); });
}

}  // namespace

VITRINE_KERNEL(ceil_out, "aten::ceil.out", ceil_out);

}  // namespace vitrine::portable
