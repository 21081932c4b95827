#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void isinf_out(KernelContext& context, const Tensor& self, Tensor& out) {
  predicate_float(context, self, out, [](auto x) { return std::isinf(x); });
}

}  // namespace

VITRINE_KERNEL(isinf_out, "aten::isinf.out", isinf_out);

}  // namespace vitrine::portable
