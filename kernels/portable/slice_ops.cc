// Operators that copy a part of a tensor along one dimension, or copy a tensor and replace a part.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Like normalize_dim(), but fails if `self` is 0-d.
std::optional<size_t> existing_dim(KernelContext& context, const Tensor& self, int64_t dim) {
  if (self.rank() == 0) {
    context.fail(ErrorCode::kInvalidArgument, "self must have at least one dimension");
    return std::nullopt;
  }
  return normalize_dim(context, dim, self.rank());
}

// Copies self[..., start:start+length, ...] to `out`, or self[..., start, ...] if `keeps_dim` is
// false. Returns false and copies nothing unless there are few contiguous runs of elements. The
// range must be valid.
bool copy_few_runs(KernelContext& context, const Tensor& self, size_t axis, int64_t start,
                   int64_t length, bool keeps_dim, Tensor& out) {
  constexpr int64_t kMaxRuns = 16;
  constexpr size_t kMaxBytes = 4096;
  const int64_t runs = size_product(self, 0, axis);
  if (runs > kMaxRuns || out.max_nbytes() > kMaxBytes || !self.is_contiguous() ||
      !out.is_contiguous()) {
    return false;
  }
  std::array<int32_t, kMaxRank> sizes;
  size_t rank = 0;
  for (size_t i = 0; i < self.rank(); ++i) {
    if (i != axis) {
      sizes[rank++] = self.size(i);
    } else if (keeps_dim) {
      sizes[rank++] = static_cast<int32_t>(length);
    }
  }
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !context.resize(out, {sizes.data(), rank}) || out.numel() == 0) {
    return true;
  }
  const size_t inner = static_cast<size_t>(self.strides()[axis]) * self.element_size();
  const size_t bytes = static_cast<size_t>(length) * inner;
  const auto* from = self.unchecked_data<std::byte>() + static_cast<size_t>(start) * inner;
  auto* to = out.unchecked_mutable_data<std::byte>();
  for (int64_t i = 0; i < runs; ++i, to += bytes) {
    std::memmove(to, from, bytes);
    from += static_cast<size_t>(self.size(axis)) * inner;
  }
  return true;
}

// The next functions return the layout of a part of `self`. On errors, they fail the context and
// return nullopt. Negative indices count from the end.

// The layout of Python's self[..., start:end:step, ...]. Clamps the bounds. `step` must be
// positive.
std::optional<Layout> slice_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                   std::optional<int64_t> start, std::optional<int64_t> end,
                                   int64_t step) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return std::nullopt;
  if (step <= 0) {
    context.fail(ErrorCode::kInvalidArgument, "step %lld is not positive",
                 static_cast<long long>(step));
    return std::nullopt;
  }
  const int64_t size = self.size(*axis);
  const auto clamped = [size](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size);
  };
  const int64_t first = clamped(start.value_or(0));
  const int64_t last = std::max(first, clamped(end.value_or(size)));
  Layout view(self);
  view.narrow(*axis, first, (last - first) / step + ((last - first) % step != 0 ? 1 : 0), step);
  return view;
}

// The layout of self[..., index, ...], without the indexed dimension.
std::optional<Layout> select_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t index) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return std::nullopt;
  const int64_t size = self.size(*axis);
  if (index < -size || index >= size) {
    context.fail(ErrorCode::kInvalidArgument, "index %lld is out of range for %lld elements",
                 static_cast<long long>(index), static_cast<long long>(size));
    return std::nullopt;
  }
  Layout view(self);
  view.select(*axis, index < 0 ? index + size : index);
  return view;
}

// The layout of self[..., start:start+length, ...]. Fails unless all of these elements exist.
std::optional<Layout> narrow_layout(KernelContext& context, const Tensor& self, int64_t dim,
                                    int64_t start, int64_t length) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return std::nullopt;
  const int64_t size = self.size(*axis);
  if (start >= -size && start < 0) start += size;
  if (start < 0 || length < 0 || start > size || length > size - start) {
    context.fail(ErrorCode::kInvalidArgument, "length %lld from start %lld exceeds the size, %lld",
                 static_cast<long long>(length), static_cast<long long>(start),
                 static_cast<long long>(size));
    return std::nullopt;
  }
  Layout view(self);
  view.narrow(*axis, start, length);
  return view;
}

void copy_part(KernelContext& context, const Tensor& self, const std::optional<Layout>& part,
               Tensor& out) {
  if (part) copy_view(context, self, *part, out);
}

void narrow_copy_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t start,
                     int64_t length, Tensor& out) {
  copy_part(context, self, narrow_layout(context, self, dim, start, length), out);
}

void select_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim, int64_t index,
                         Tensor& out) {
  copy_part(context, self, select_layout(context, self, dim, index), out);
}

void slice_copy_Tensor_out(KernelContext& context, const Tensor& self, int64_t dim,
                           std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                           Tensor& out) {
  copy_part(context, self, slice_layout(context, self, dim, start, end, step), out);
}

// Copies self to out, and then src to part_of(out).
template <class PartOf>
void scatter_part(KernelContext& context, const Tensor& self, const Tensor& src, Tensor& out,
                  PartOf part_of) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  copy_tensor(context, self, out);
  if (context.failed()) return;
  const std::optional<Layout> part = part_of(out);
  if (part) (void)copy_exact(context, src, out, *part);
}

void select_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                        int64_t index, Tensor& out) {
  scatter_part(context, self, src, out,
               [&](const Tensor& copy) { return select_layout(context, copy, dim, index); });
}

void slice_scatter_out(KernelContext& context, const Tensor& self, const Tensor& src, int64_t dim,
                       std::optional<int64_t> start, std::optional<int64_t> end, int64_t step,
                       Tensor& out) {
  scatter_part(context, self, src, out, [&](const Tensor& copy) {
    return slice_layout(context, copy, dim, start, end, step);
  });
}

// Splits self along `dim`. outs[i] gets the next length_of(i) elements. Fails if a length is
// invalid, if there is not one output for each part, or if the parts do not cover self.
template <class LengthOf>
void split_tensor(KernelContext& context, const Tensor& self, int64_t dim,
                  std::span<Tensor* const> outs, int64_t parts, LengthOf length_of) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return;
  if (parts != static_cast<int64_t>(outs.size())) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "expected one output for each of the %lld parts, got %zu",
                        static_cast<long long>(parts), outs.size());
  }
  int64_t start = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t length = length_of(i);
    Tensor& out = *outs[static_cast<size_t>(i)];
    const bool fits = length >= 0 && length <= self.size(*axis) - start;
    if (!fits || !copy_few_runs(context, self, *axis, start, length, true, out)) {
      copy_part(context, self,
                narrow_layout(context, self, static_cast<int64_t>(*axis), start, length), out);
    }
    if (context.failed()) return;  // for example, because the length is out of range
    start += length;
  }
  if (start != self.size(*axis)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "the parts have %lld elements in total, but the dimension has %d",
                 static_cast<long long>(start), self.size(*axis));
  }
}

void split_copy_Tensor_out(KernelContext& context, const Tensor& self, int64_t split_size,
                           int64_t dim, std::span<Tensor* const> out) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return;
  const int64_t size = self.size(*axis);
  if (split_size < 0 || (split_size == 0 && size != 0)) {
    return context.fail(ErrorCode::kInvalidArgument, "split_size %lld cannot split %lld elements",
                        static_cast<long long>(split_size), static_cast<long long>(size));
  }
  const int64_t parts = size == 0 ? 1 : (size - 1) / split_size + 1;
  split_tensor(context, self, dim, out, parts, [&](int64_t i) {
    return i + 1 < parts ? split_size : size - split_size * (parts - 1);
  });
}

void split_with_sizes_copy_out(KernelContext& context, const Tensor& self,
                               std::span<const int64_t> split_sizes, int64_t dim,
                               std::span<Tensor* const> out) {
  split_tensor(context, self, dim, out, static_cast<int64_t>(split_sizes.size()),
               [&](int64_t i) { return split_sizes[static_cast<size_t>(i)]; });
}

void unbind_copy_int_out(KernelContext& context, const Tensor& self, int64_t dim,
                         std::span<Tensor* const> out) {
  const std::optional<size_t> axis = existing_dim(context, self, dim);
  if (!axis) return;
  if (static_cast<int64_t>(out.size()) != self.size(*axis)) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "expected one output for each of the %d slices, got %zu", self.size(*axis),
                        out.size());
  }
  for (size_t i = 0; i < out.size() && !context.failed(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (!copy_few_runs(context, self, *axis, index, 1, false, *out[i])) {
      select_copy_int_out(context, self, dim, index, *out[i]);
    }
  }
}

}  // namespace

VITRINE_KERNEL(narrow_copy_out, "aten::narrow_copy.out", narrow_copy_out);
VITRINE_KERNEL(select_copy_int_out, "aten::select_copy.int_out", select_copy_int_out);
VITRINE_KERNEL(select_scatter_out, "aten::select_scatter.out", select_scatter_out);
VITRINE_KERNEL(slice_copy_Tensor_out, "aten::slice_copy.Tensor_out", slice_copy_Tensor_out);
VITRINE_KERNEL(slice_scatter_out, "aten::slice_scatter.out", slice_scatter_out);
VITRINE_KERNEL(split_copy_Tensor_out, "aten::split_copy.Tensor_out", split_copy_Tensor_out);
VITRINE_KERNEL(split_with_sizes_copy_out, "aten::split_with_sizes_copy.out",
               split_with_sizes_copy_out);
VITRINE_KERNEL(unbind_copy_int_out, "aten::unbind_copy.int_out", unbind_copy_int_out);

}  // namespace vitrine::portable
