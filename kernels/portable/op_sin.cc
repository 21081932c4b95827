#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::sin(x); });
}

}  // namespace

VITRINE_KERNEL(sin_out, "aten::sin.out", sin_out);

}  // namespace vitrine::portable
