#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Copies that differ in what they say of autograd and of devices only: there is one device here.
void alias_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(alias_copy_out, "aten::alias_copy.out", alias_copy_out);
VITRINE_KERNEL(detach_copy_out, "aten::detach_copy.out", alias_copy_out);
VITRINE_KERNEL(et_d2h_copy_out, "et_copy::_d2h_copy.out", alias_copy_out);
VITRINE_KERNEL(et_h2d_copy_out, "et_copy::_h2d_copy.out", alias_copy_out);
VITRINE_KERNEL(lift_fresh_copy_out, "aten::lift_fresh_copy.out", alias_copy_out);

}  // namespace vitrine::portable
