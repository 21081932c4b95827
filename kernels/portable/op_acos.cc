#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void acos_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::acos(x); });
}

}  // namespace

VITRINE_KERNEL(acos_out, "aten::acos.out", acos_out);

}  // namespace vitrine::portable
