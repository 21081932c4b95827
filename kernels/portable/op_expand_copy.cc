#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void expand_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                     bool implicit, Tensor& out) {
  (void)implicit;
  Layout view(self);
  std::array<int64_t, kMaxRank> target;
  bool fits = size.size() >= view.rank && size.size() <= kMaxRank;
  for (size_t i = 0; fits && i < size.size(); ++i) {
    const size_t added = size.size() - view.rank;
    // -1 keeps a size that is there.
    target[i] = size[i] == -1 && i >= added ? view.sizes[i - added] : size[i];
    fits = target[i] >= 0;
  }
  if (!fits || !view.broadcast_to({target.data(), size.size()})) {
    context.fail(ErrorCode::kInvalidArgument,
                 "self, of rank %zu, does not expand to the %zu sizes given", self.rank(),
                 size.size());
    return;
  }
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(expand_copy_out, "aten::expand_copy.out", expand_copy_out);

}  // namespace vitrine::portable
