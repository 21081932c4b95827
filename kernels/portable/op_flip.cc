#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void flip_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dims,
              Tensor& out) {
  const std::optional<uint32_t> mask = dim_mask(context, dims, self.rank());
  if (!mask) return;
  Layout view(self);
  for (size_t i = 0; i < view.rank; ++i) {
    if (((*mask >> i) & 1u) != 0) view.narrow(i, view.sizes[i] - 1, view.sizes[i], -1);
  }
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(flip_out, "aten::flip.out", flip_out);

}  // namespace vitrine::portable
