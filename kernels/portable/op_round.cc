// Halves go to the even neighbour.
#include <cmath>

#include "kernels/util/arithmetic.h"
#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void round_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary<RealTypes>(context, self, out,
                   [](auto x) { return rounded(x, [](auto y) { return std::nearbyint(y); }); });
}

}  // namespace

VITRINE_KERNEL(round_out, "aten::round.out", round_out);

}  // namespace vitrine::portable
