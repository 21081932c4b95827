#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void unsqueeze_copy_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank() + 1);
  if (!place) return;
  Layout view(self);
  view.insert(*place, 1, 0);
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(unsqueeze_copy_out, "aten::unsqueeze_copy.out", unsqueeze_copy_out);

}  // namespace vitrine::portable
