#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void atan2_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  binary_float(context, self, other, out, [](auto y, auto x) { return std::atan2(y, x); });
}

}  // namespace

VITRINE_KERNEL(atan2_out, "aten::atan2.out", atan2_out);

}  // namespace vitrine::portable
