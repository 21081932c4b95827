#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void rsqrt_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return 1 / std::sqrt(x); });
}

}  // namespace

VITRINE_KERNEL(rsqrt_out, "aten::rsqrt.out", rsqrt_out);

}  // namespace vitrine::portable
