#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// There is one device here: the copy stays in its memory.
void et_h2d_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(et_h2d_copy_out, "et_copy::_h2d_copy.out", et_h2d_copy_out);

}  // namespace vitrine::portable
