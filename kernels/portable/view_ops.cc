#include <algorithm>
#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/infer_sizes.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void view_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                   Tensor& out) {
  std::array<int32_t, kMaxRank> storage;
  const auto sizes = infer_sizes(context, size, self.numel(), storage);
  if (sizes && context.resize(out, *sizes)) copy_reshaped(context, self, out);
}

void unsqueeze_copy_out(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  const std::optional<size_t> axis = normalize_dim(context, dim, self.rank() + 1);
  if (!axis) return;
  Layout view(self);
  view.insert(*axis, 1, 0);
  copy_view(context, self, view, out);
}

// Ignores dimensions whose size is not one.
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

void expand_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                     bool /*implicit*/, Tensor& out) {
  Layout view(self);
  std::array<int64_t, kMaxRank> target;
  bool fits = size.size() >= view.rank && size.size() <= kMaxRank;
  for (size_t i = 0; fits && i < size.size(); ++i) {
    const size_t added = size.size() - view.rank;
    // A size of -1 keeps the size of an existing dimension.
    target[i] = size[i] == -1 && i >= added ? view.sizes[i - added] : size[i];
    fits = target[i] >= 0;
  }
  if (!fits || !view.broadcast_to({target.data(), size.size()})) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "self of rank %zu does not expand to the given %zu sizes", self.rank(),
                        size.size());
  }
  copy_view(context, self, view, out);
}

void t_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  Layout view(self);
  if (view.rank > 2) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "t expects rank 2 or less, but self has rank %zu", view.rank);
  }
  if (view.rank == 2) view.swap(0, 1);
  copy_view(context, self, view, out);
}

void transpose_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim0, int64_t dim1,
                            Tensor& out) {
  const std::optional<size_t> a = normalize_dim(context, dim0, self.rank());
  const std::optional<size_t> b = normalize_dim(context, dim1, self.rank());
  if (!a || !b) return;
  Layout view(self);
  if (view.rank > 0) view.swap(*a, *b);
  copy_view(context, self, view, out);
}

void permute_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dims,
                      Tensor& out) {
  if (dims.size() != self.rank()) {
    return context.fail(ErrorCode::kInvalidArgument, "dims has %zu numbers, but self has rank %zu",
                        dims.size(), self.rank());
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

// The diagonal becomes the last dimension.
void diagonal_copy_out(KernelContext& context, const Tensor& self, int64_t offset, int64_t dim1,
                       int64_t dim2, Tensor& out) {
  const std::optional<size_t> row = normalize_dim(context, dim1, self.rank());
  const std::optional<size_t> column = normalize_dim(context, dim2, self.rank());
  if (!row || !column) return;
  if (self.rank() < 2 || *row == *column) {
    return context.fail(ErrorCode::kInvalidArgument, "a diagonal needs two different dimensions");
  }
  const int64_t rows = self.size(*row);
  const int64_t columns = self.size(*column);
  offset = std::clamp<int64_t>(offset, -rows, columns);  // empty beyond these limits
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

// Copies windows of `size` elements, which begin at multiples of `step`. The elements of a window
// form a new last dimension.
void unfold_copy_out(KernelContext& context, const Tensor& self, int64_t dimension, int64_t size,
                     int64_t step, Tensor& out) {
  const std::optional<size_t> dim = normalize_dim(context, dimension, self.rank());
  if (!dim) return;
  Layout view(self);
  if (view.rank == 0) view.insert(0, 1, 1);
  const int64_t available = view.sizes[*dim];
  if (size < 0 || size > available || step <= 0) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "size is %lld and step is %lld, expected size 0 to %lld and step 1 or more",
                        static_cast<long long>(size), static_cast<long long>(step),
                        static_cast<long long>(available));
  }
  const int64_t stride = view.strides[*dim];
  view.narrow(*dim, 0, (available - size) / step + 1, step);
  view.insert(view.rank, size, stride);
  // The result for a 0-d tensor has only the dimension of the window.
  if (self.rank() == 0) view.remove(0);
  copy_view(context, self, view, out);
}

// `size` and `stride` describe a view of self's elements in row-major order.
void as_strided_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                         std::span<const int64_t> stride, std::optional<int64_t> storage_offset,
                         Tensor& out) {
  Layout view;
  view.offset = storage_offset.value_or(0);
  int64_t last = view.offset;  // offset of the last element
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
    return context.fail(ErrorCode::kInvalidArgument,
                        "size, stride and storage_offset exceed the %lld elements of self",
                        static_cast<long long>(self.numel()));
  }
  if (check_contiguous(context, self, "self")) copy_view(context, self, view, out);
}

}  // namespace

VITRINE_KERNEL(view_copy_out, "aten::view_copy.out", view_copy_out);
VITRINE_KERNEL(unsqueeze_copy_out, "aten::unsqueeze_copy.out", unsqueeze_copy_out);
VITRINE_KERNEL(squeeze_copy_dim_out, "aten::squeeze_copy.dim_out", squeeze_copy_dim_out);
VITRINE_KERNEL(squeeze_copy_dims_out, "aten::squeeze_copy.dims_out", squeeze_copy_dims_out);
VITRINE_KERNEL(expand_copy_out, "aten::expand_copy.out", expand_copy_out);
VITRINE_KERNEL(t_copy_out, "aten::t_copy.out", t_copy_out);
VITRINE_KERNEL(transpose_copy_int_out, "aten::transpose_copy.int_out", transpose_copy_int_out);
VITRINE_KERNEL(permute_copy_out, "aten::permute_copy.out", permute_copy_out);
VITRINE_KERNEL(flip_out, "aten::flip.out", flip_out);
VITRINE_KERNEL(diagonal_copy_out, "aten::diagonal_copy.out", diagonal_copy_out);
VITRINE_KERNEL(unfold_copy_out, "aten::unfold_copy.out", unfold_copy_out);
VITRINE_KERNEL(as_strided_copy_out, "aten::as_strided_copy.out", as_strided_copy_out);

}  // namespace vitrine::portable
