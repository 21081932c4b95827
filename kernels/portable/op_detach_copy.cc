#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void detach_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(detach_copy_out, "aten::detach_copy.out", detach_copy_out);

}  // namespace vitrine::portable
