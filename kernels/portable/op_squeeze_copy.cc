#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Dimensions that are not of size one stay.
void squeeze_copy_dims_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
                           Tensor& out) {
  const std::optional<uint32_t> mask = dim_mask(context, dim, self.rank());
  if (!mask) return;
  Layout view(self);
  for (size_t i = self.rank(); i-- > 0;) {
    if (((*mask >> i) & 1u) != 0 && self.size(i) == 1) view.remove(i);
  }
  copy_view(context, self, view, out);
}

void squeeze_copy_dim_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  squeeze_copy_dims_out(context, self, {&dim, 1}, out);
}

}  // namespace

VITRINE_KERNEL(squeeze_copy_dim_out, "aten::squeeze_copy.dim_out", squeeze_copy_dim_out);
VITRINE_KERNEL(squeeze_copy_dims_out, "aten::squeeze_copy.dims_out", squeeze_copy_dims_out);

}  // namespace vitrine::portable
