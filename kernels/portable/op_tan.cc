#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void tan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::tan(x); });
}

}  // namespace

VITRINE_KERNEL(tan_out, "aten::tan.out", tan_out);

}  // namespace vitrine::portable
