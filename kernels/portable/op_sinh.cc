#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::sinh(x); });
}

}  // namespace

VITRINE_KERNEL(sinh_out, "aten::sinh.out", sinh_out);

}  // namespace vitrine::portable
