#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void asin_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::asin(x); });
}

}  // namespace

VITRINE_KERNEL(asin_out, "aten::asin.out", asin_out);

}  // namespace vitrine::portable
