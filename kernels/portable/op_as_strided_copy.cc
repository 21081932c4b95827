#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The strides are those of a row-major self: its elements are numbered in that order.
void as_strided_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                         std::span<const int64_t> stride, std::optional<int64_t> storage_offset,
                         Tensor& out) {
  Layout view;
  view.offset = storage_offset.value_or(0);
  int64_t last = view.offset;  // the furthest element
  bool fits = size.size() == stride.size() && size.size() <= kMaxRank && last >= 0;
  bool empty = false;
  for (size_t i = 0; fits && i < size.size(); ++i) {
    int64_t reach = 0;
    fits = size[i] >= 0 && stride[i] >= 0 && !mul_overflows(size[i] - 1, stride[i], &reach) &&
           !add_overflows(last, reach, &last);
    empty = empty || size[i] == 0;
    view.insert(i, size[i], stride[i]);
  }
  if (!fits || (!empty && last >= self.numel())) {
    context.fail(ErrorCode::kInvalidArgument,
                 "size, stride and storage_offset reach beyond the %lld elements of self",
                 static_cast<long long>(self.numel()));
    return;
  }
  if (check_contiguous(context, self, "self")) copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(as_strided_copy_out, "aten::as_strided_copy.out", as_strided_copy_out);

}  // namespace vitrine::portable
