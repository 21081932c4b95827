#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void erf_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::erf(x); });
}

}  // namespace

VITRINE_KERNEL(erf_out, "aten::erf.out", erf_out);

}  // namespace vitrine::portable
