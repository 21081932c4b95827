#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void slice_copy_Tensor_out(KernelContext& context, const Tensor& self, int64_t dim,
                           std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                           Tensor& out) {
  const std::optional<Layout> view = slice_layout(context, self, dim, start, end, step);
  if (view) copy_view(context, self, *view, out);
}

}  // namespace

VITRINE_KERNEL(slice_copy_Tensor_out, "aten::slice_copy.Tensor_out", slice_copy_Tensor_out);

}  // namespace vitrine::portable
