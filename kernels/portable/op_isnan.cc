#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void isnan_out(KernelContext& context, const Tensor& self, Tensor& out) {
  predicate_float(context, self, out, [](auto x) { return std::isnan(x); });
}

}  // namespace

VITRINE_KERNEL(isnan_out, "aten::isnan.out", isnan_out);

}  // namespace vitrine::portable
