#include <cmath>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void floor_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out,
                   [](auto x) { return rounded(x, [](auto y) { return std::floor(y); }); });
}

}  // namespace

VITRINE_KERNEL(floor_out, "aten::floor.out", floor_out);

}  // namespace vitrine::portable
