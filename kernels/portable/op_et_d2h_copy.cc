#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// There is one device here: the copy stays in its memory.
void et_d2h_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(et_d2h_copy_out, "et_copy::_d2h_copy.out", et_d2h_copy_out);

}  // namespace vitrine::portable
