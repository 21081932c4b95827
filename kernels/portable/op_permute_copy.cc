#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void permute_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dims,
                      Tensor& out) {
  if (dims.size() != self.rank()) {
    context.fail(ErrorCode::kInvalidArgument, "%zu dims cannot permute a tensor of rank %zu",
                 dims.size(), self.rank());
    return;
  }
  if (!dim_mask(context, dims, self.rank())) return;
  std::array<size_t, kMaxRank> order;
  for (size_t i = 0; i < dims.size(); ++i) {
    order[i] = static_cast<size_t>(dims[i]) + (dims[i] < 0 ? self.rank() : 0);
  }
  Layout view(self);
  view.permute(std::span<const size_t>(order.data(), dims.size()));
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(permute_copy_out, "aten::permute_copy.out", permute_copy_out);

}  // namespace vitrine::portable
