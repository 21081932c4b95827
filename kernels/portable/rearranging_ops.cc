// Operators that repeat elements or move elements to other positions.
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/piecewise_copy.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void repeat_out(KernelContext& context, const Tensor& self, std::span<const int64_t> repeats,
                Tensor& out) {
  const size_t rank = repeats.size();
  Layout view(self);
  bool fits = rank >= view.rank && rank <= kMaxRank;
  for (size_t i = 0; fits && i < rank; ++i) fits = repeats[i] >= 0 && repeats[i] <= INT32_MAX;
  if (!fits) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "repeats must have at least %zu numbers, all 0 or greater", view.rank);
  }
  while (view.rank < rank) view.insert(0, 1, 0);
  std::array<int64_t, kMaxRank> sizes;
  for (size_t i = 0; i < rank; ++i) sizes[i] = view.sizes[i] * repeats[i];
  if (!resize_to(context, out, {sizes.data(), rank})) return;
  if (out.numel() == 0) return;
  // Splits each dimension of `out` into two dimensions: the repetition, and the index within the
  // repetition.
  Layout target(out);
  for (size_t i = rank; i-- > 0;) {
    target.split(i, view.sizes[i]);
    view.insert(i, repeats[i], 0);
  }
  (void)copy_elements(context, self, view, out, target);
}

// The index in [0, size) of element 0 after a roll by `shift`.
int64_t rolled_start(int64_t shift, int64_t size) {
  shift %= size;  // NOLINT(clang-analyzer-core.DivideZero): rolled tensors have elements
  return shift < 0 ? shift + size : shift;
}

SegmentList rolled_segments(int64_t start, int64_t size) {
  SegmentList list;
  list.add({0, size - start, start, 1});
  list.add({start, 0, size - start, 1});
  return list;
}

void roll_out(KernelContext& context, const Tensor& self, std::span<const int64_t> shifts,
              std::span<const int64_t> dims, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes()) ||
      self.numel() == 0) {
    return;
  }
  if (shifts.empty() || shifts.size() != (dims.empty() ? 1 : dims.size())) {
    return context.fail(ErrorCode::kInvalidArgument, "shifts has %zu numbers, but dims has %zu",
                        shifts.size(), dims.size());
  }
  if (dims.empty()) {  // rolls all elements as one row
    if (!check_contiguous(context, self, "self") || !check_contiguous(context, out, "out")) return;
    const int64_t count = self.numel();
    const SegmentList list = rolled_segments(rolled_start(shifts[0], count), count);
    for (size_t i = 0; i < list.count; ++i) {
      const Segment& segment = list.items[i];
      Layout from(std::array<int64_t, 1>{count});
      Layout to = from;
      from.narrow(0, segment.from, segment.length);
      to.narrow(0, segment.to, segment.length);
      if (!copy_elements(context, self, from, out, to)) return;
    }
    return;
  }
  std::array<int64_t, kMaxRank> starts{};
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::optional<size_t> dim = normalize_dim(context, dims[i], self.rank());
    if (!dim) return;
    const int64_t size = size_at(self, *dim);
    starts[*dim] = (starts[*dim] + rolled_start(shifts[i], size)) % size;
  }
  std::array<SegmentList, kMaxRank> dimensions;
  for (size_t i = 0; i < self.rank(); ++i) {
    dimensions[i] = rolled_segments(starts[i], self.size(i));
  }
  copy_segments(context, self, std::span(dimensions).first(self.rank()), out);
}

// Views [..., C * f * f, H, W] as [..., C, f, f, H, W].
Layout split_channels(const Tensor& tensor, int64_t factor) {
  const size_t rank = tensor.rank();
  Layout layout(tensor);
  layout.split(rank - 3, factor * factor);
  layout.split(rank - 2, factor);
  return layout;
}

// Views [..., C, H * f, W * f] as [..., C, f, f, H, W].
Layout split_pixels(const Tensor& tensor, int64_t factor) {
  const size_t rank = tensor.rank();
  Layout layout(tensor);  // C H f W f
  layout.split(rank - 1, factor);
  layout.split(rank - 2, factor);
  layout.swap(rank - 2, rank - 1);  // C f H W f
  layout.swap(rank - 1, rank + 1);  // C f f W H
  layout.swap(rank, rank + 1);      // C f f H W
  return layout;
}

// Rearranges [..., C * f * f, H, W] to [..., C, H * f, W * f].
void pixel_shuffle_out(KernelContext& context, const Tensor& self, int64_t upscale_factor,
                       Tensor& out) {
  const int64_t factor = upscale_factor;
  const size_t rank = self.rank();
  if (rank < 3 || factor < 1 || factor > INT32_MAX ||
      self.size(rank - 3) % (factor * factor) != 0) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "upscale_factor %lld must be positive, and its square must divide the number of channels; "
        "self has rank %zu, expected at least 3",
        static_cast<long long>(factor), rank);
  }
  Layout result(self);
  result.sizes[rank - 3] /= factor * factor;
  result.sizes[rank - 2] *= factor;
  result.sizes[rank - 1] *= factor;
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, result.size_span())) {
    return;
  }
  (void)copy_elements(context, self, split_channels(self, factor), out, split_pixels(out, factor));
}

// Rearranges [..., C, H * f, W * f] to [..., C * f * f, H, W].
void pixel_unshuffle_out(KernelContext& context, const Tensor& self, int64_t downscale_factor,
                         Tensor& out) {
  const int64_t factor = downscale_factor;
  const size_t rank = self.rank();
  if (rank < 3 || factor < 1 || factor > INT32_MAX || self.size(rank - 2) % factor != 0 ||
      self.size(rank - 1) % factor != 0) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "downscale_factor %lld must be positive and divide the height and the width; self has rank "
        "%zu, expected at least 3",
        static_cast<long long>(factor), rank);
  }
  Layout result(self);
  if (mul_overflows(result.sizes[rank - 3], factor * factor, &result.sizes[rank - 3])) {
    return context.fail(ErrorCode::kInvalidArgument, "downscale_factor %lld is too large",
                        static_cast<long long>(factor));
  }
  result.sizes[rank - 2] /= factor;
  result.sizes[rank - 1] /= factor;
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, result.size_span())) {
    return;
  }
  (void)copy_elements(context, self, split_pixels(self, factor), out, split_channels(out, factor));
}

}  // namespace

VITRINE_KERNEL(repeat_out, "aten::repeat.out", repeat_out);
VITRINE_KERNEL(roll_out, "aten::roll.out", roll_out);
VITRINE_KERNEL(pixel_shuffle_out, "aten::pixel_shuffle.out", pixel_shuffle_out);
VITRINE_KERNEL(pixel_unshuffle_out, "aten::pixel_unshuffle.out", pixel_unshuffle_out);

}  // namespace vitrine::portable
