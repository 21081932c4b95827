#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void sigmoid_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return 1 / (1 + std::exp(-x)); });
}

}  // namespace

VITRINE_KERNEL(sigmoid_out, "aten::sigmoid.out", sigmoid_out);

}  // namespace vitrine::portable
