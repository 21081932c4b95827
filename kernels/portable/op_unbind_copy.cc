#include "kernels/util/element_copy.h"
#include "kernels/util/slice.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void unbind_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim,
                         std::span<Tensor* const> out) {
  const std::optional<size_t> place = existing_dim(context, self, dim);
  if (!place) return;
  if (static_cast<int64_t>(out.size()) != self.size(*place)) {
    context.fail(ErrorCode::kInvalidArgument, "%d slices do not go into %zu outs",
                 self.size(*place), out.size());
    return;
  }
  for (size_t i = 0; i < out.size() && !context.failed(); ++i) {
    Layout view(self);
    view.select(*place, static_cast<int64_t>(i));
    copy_view(context, self, view, *out[i]);
  }
}

}  // namespace

VITRINE_KERNEL(unbind_copy_int_out, "aten::unbind_copy.int_out", unbind_copy_int_out);

}  // namespace vitrine::portable
