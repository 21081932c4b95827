#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void atan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::atan(x); });
}

}  // namespace

VITRINE_KERNEL(atan_out, "aten::atan.out", atan_out);

}  // namespace vitrine::portable
