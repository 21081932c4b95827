#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void atanh_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::atanh(x); });
}

}  // namespace

VITRINE_KERNEL(atanh_out, "aten::atanh.out", atanh_out);

}  // namespace vitrine::portable
