#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void t_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  Layout view(self);
  if (view.rank > 2) {
    context.fail(ErrorCode::kInvalidArgument, "t takes a tensor of at most two dimensions, not %zu",
                 view.rank);
    return;
  }
  if (view.rank == 2) view.swap(0, 1);
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(t_copy_out, "aten::t_copy.out", t_copy_out);

}  // namespace vitrine::portable
