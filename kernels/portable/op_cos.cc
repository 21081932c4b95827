#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void cos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::cos(x); });
}

}  // namespace

VITRINE_KERNEL(cos_out, "aten::cos.out", cos_out);

}  // namespace vitrine::portable
