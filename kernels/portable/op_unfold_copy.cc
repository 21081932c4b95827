#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Windows of `size` elements, `step` apart, along a dimension; what they hold becomes the last one.
void unfold_copy_out(KernelContext& context, const Tensor& self, int64_t dimension, int64_t size,
                     int64_t step, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, dimension, self.rank());
  if (!dim) return;
  Layout view(self);
  if (view.rank == 0) view.insert(0, 1, 1);
  const int64_t available = view.sizes[*dim];
  if (size < 0 || size > available || step <= 0) {
    context.fail(ErrorCode::kInvalidArgument,
                 "windows of %lld elements, %lld apart, do not suit %lld elements",
                 static_cast<long long>(size), static_cast<long long>(step),
                 static_cast<long long>(available));
    return;
  }
  const int64_t stride = view.strides[*dim];
  view.narrow(*dim, 0, (available - size) / step + 1, step);
  view.insert(view.rank, size, stride);
  // A window of a 0-d tensor has the one dimension only.
  if (self.rank() == 0) view.remove(0);
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(unfold_copy_out, "aten::unfold_copy.out", unfold_copy_out);

}  // namespace vitrine::portable
