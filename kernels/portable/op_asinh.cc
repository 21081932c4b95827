#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void asinh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::asinh(x); });
}

}  // namespace

VITRINE_KERNEL(asinh_out, "aten::asinh.out", asinh_out);

}  // namespace vitrine::portable
