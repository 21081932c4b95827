#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void select_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                        int64_t index, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed()) return;
  const std::optional<Layout> place = select_layout(context, out, dim, index);
  if (place) (void)copy_exact(context, src, out, *place);
}

}  // namespace

VITRINE_KERNEL(select_scatter_out, "aten::select_scatter.out", select_scatter_out);

}  // namespace vitrine::portable
