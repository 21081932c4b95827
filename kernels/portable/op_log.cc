#include <cmath>

#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void log_out(KernelContext& context, const Tensor& self, Tensor& out) {
  unary_float(context, self, out, [](auto x) { return std::log(x); });
}

}  // namespace

VITRINE_KERNEL(log_out, "aten::log.out", log_out);

}  // namespace vitrine::portable
