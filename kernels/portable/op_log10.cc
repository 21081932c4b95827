#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void log10_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::log10(x); });
}

}  // namespace

VITRINE_KERNEL(log10_out, "aten::log10.out", log10_out);

}  // namespace vitrine::portable
