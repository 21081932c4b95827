#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void narrow_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t start,
                     int64_t length, Tensor& out) {
  const std::optional<Layout> view = narrow_layout(context, self, dim, start, length);
  if (view) copy_view(context, self, *view, out);
}

}  // namespace

VITRINE_KERNEL(narrow_copy_out, "aten::narrow_copy.out", narrow_copy_out);

}  // namespace vitrine::portable
