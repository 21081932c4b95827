#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void log2_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::log2(x); });
}

}  // namespace

VITRINE_KERNEL(log2_out, "aten::log2.out", log2_out);

}  // namespace vitrine::portable
