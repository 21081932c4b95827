#include <algorithm>
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The diagonal becomes the last dimension.
void diagonal_copy_out(KernelContext& context, const Tensor& self, int64_t offset, int64_t dim1,
                       int64_t dim2, Tensor& out) {
  const std::optional<size_t> row = normalize_dim(context, dim1, self.rank());
  const std::optional<size_t> column = normalize_dim(context, dim2, self.rank());
  if (!row || !column) return;
  if (self.rank() < 2 || *row == *column) {
    context.fail(ErrorCode::kInvalidArgument, "a diagonal needs two different dimensions");
    return;
  }
  const int64_t rows = self.size(*row);
  const int64_t columns = self.size(*column);
  offset = std::clamp<int64_t>(offset, -rows, columns);  // beyond, nothing is left either way
  const int64_t first_row = std::max<int64_t>(-offset, 0);
  const int64_t first_column = std::max<int64_t>(offset, 0);
  const int64_t length = std::min(rows - first_row, columns - first_column);
  Layout view(self);
  const int64_t stride = view.strides[*row] + view.strides[*column];
  view.narrow(*row, first_row, length);
  view.narrow(*column, first_column, length);
  view.remove(std::max(*row, *column));
  view.remove(std::min(*row, *column));
  view.insert(view.rank, length, stride);
  copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(diagonal_copy_out, "aten::diagonal_copy.out", diagonal_copy_out);

}  // namespace vitrine::portable
