#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void select_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t index,
                         Tensor& out) {
  const std::optional<Layout> view = select_layout(context, self, dim, index);
  if (view) copy_view(context, self, *view, out);
}

}  // namespace

VITRINE_KERNEL(select_copy_int_out, "aten::select_copy.int_out", select_copy_int_out);

}  // namespace vitrine::portable
