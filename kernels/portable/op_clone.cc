#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The memory format is that of `out`, which the program has planned.
void clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t> memory_format,
               Tensor& out) {
  (void)memory_format;
  copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(clone_out, "aten::clone.out", clone_out);

}  // namespace vitrine::portable
