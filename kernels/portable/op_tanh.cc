#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void tanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::tanh(x); });
}

}  // namespace

VITRINE_KERNEL(tanh_out, "aten::tanh.out", tanh_out);

}  // namespace vitrine::portable
