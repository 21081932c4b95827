#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void log1p_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::log1p(x); });
}

}  // namespace

VITRINE_KERNEL(log1p_out, "aten::log1p.out", log1p_out);

}  // namespace vitrine::portable
