#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void copy_(KernelContext& context, Tensor& self, const Tensor& src, bool non_blocking) {
  (void)non_blocking;
  (void)copy_broadcast(context, src, self, Layout(self));
}

// self gives its shape and dtype only.
void copy_out(KernelContext& context, const Tensor& self, const Tensor& src, bool non_blocking,
              Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes())) return;
  copy_(context, out, src, non_blocking);
}

}  // namespace

VITRINE_KERNEL(copy_, "aten::copy_", copy_);
VITRINE_KERNEL(copy_out, "aten::copy.out", copy_out);

}  // namespace vitrine::portable
