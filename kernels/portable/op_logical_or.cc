#include "kernels/util/elementwise.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void logical_or_out(KernelContext& context, const Tensor& self, const Tensor& other, Tensor& out) {
  elementwise<bool, bool, bool>(context, ScalarType::kBool, {&self, &other}, out,
                                [](bool a, bool b) { return a || b; });
}

}  // namespace

VITRINE_KERNEL(logical_or_out, "aten::logical_or.out", logical_or_out);

}  // namespace vitrine::portable
