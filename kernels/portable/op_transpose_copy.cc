#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void transpose_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1,
                            Tensor& out) {
  const std::optional<size_t> a = normalize_dim(context, dim0, self.rank());
  const std::optional<size_t> b = normalize_dim(context, dim1, self.rank());
  if (!a || !b) return;
  Layout view(self);
  if (view.rank > 0) view.swap(*a, *b);
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(transpose_copy_int_out, "aten::transpose_copy.int_out", transpose_copy_int_out);

}  // namespace vitrine::portable
