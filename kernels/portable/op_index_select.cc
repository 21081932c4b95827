#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void index_select_out(KernelContext& context, const Tensor& self, int64_t dim, const Tensor& index,
                      Tensor& out) {
  const std::optional<size_t> place = normalize_dim(context, dim, self.rank());
  if (!place) return;
  if (index.rank() > 1 || (self.rank() == 0 && index.numel() != 1)) {
    context.fail(ErrorCode::kInvalidArgument, "%lld indices in rank %zu do not suit self",
                 static_cast<long long>(index.numel()), index.rank());
    return;
  }
  // One element of a 0-d tensor is 0-d again.
  const Layout picks = self.rank() == 0 ? Layout() : at_least_1d(index);
  take_along(context, self, *place, index, picks, out);
}

}  // namespace

VITRINE_KERNEL(index_select_out, "aten::index_select.out", index_select_out);

}  // namespace vitrine::portable
