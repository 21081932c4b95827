#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void slice_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                       std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                       Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed()) return;
  const std::optional<Layout> place = slice_layout(context, out, dim, start, end, step);
  if (place) (void)copy_exact(context, src, out, *place);
}

}  // namespace

VITRINE_KERNEL(slice_scatter_out, "aten::slice_scatter.out", slice_scatter_out);

}  // namespace vitrine::portable
