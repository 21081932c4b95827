#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void lift_fresh_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(lift_fresh_copy_out, "aten::lift_fresh_copy.out", lift_fresh_copy_out);

}  // namespace vitrine::portable
