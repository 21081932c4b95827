#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void exp_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::exp(x); });
}

}  // namespace

VITRINE_KERNEL(exp_out, "aten::exp.out", exp_out);

}  // namespace vitrine::portable
