#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void logical_not_out(KernelContext& context, const Tensor& self, Tensor& out) {
  elementwise<bool, bool>(context, ScalarType::kBool, {&self}, out, [](bool x) { return !x; });
}

}  // namespace

VITRINE_KERNEL(logical_not_out, "aten::logical_not.out", logical_not_out);

}  // namespace vitrine::portable
