#include <algorithm>

#include "kernels/util/checks.h"
#include "kernels/util/piecewise_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void fail_padding(KernelContext& context, int64_t before, int64_t after, int64_t size, size_t dim) {
  context.fail(ErrorCode::kInvalidArgument,
               "padding [%lld,%lld] is out of range for the %lld elements of dimension %zu",
               static_cast<long long>(before), static_cast<long long>(after),
               static_cast<long long>(size), dim);
}

// `pad` has the padding before and after each padded dimension, beginning with the last dimension.
// Negative padding crops.
void constant_pad_nd_out(KernelContext& context, const Tensor& self, std::span<const int64_t> pad,
                         const Scalar& value, Tensor& out) {
  const size_t rank = self.rank();
  if (pad.size() % 2 != 0 || pad.size() > 2 * rank) {
    return context.fail(ErrorCode::kInvalidArgument,
                        "pad has %zu numbers, expected an even number, at most two for each of the "
                        "%zu dimensions",
                        pad.size(), rank);
  }
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  std::array<SegmentList, kMaxRank> dimensions;
  std::array<int64_t, kMaxRank> sizes;
  bool fills = false;
  for (size_t i = 0; i < rank; ++i) {
    const size_t pair = 2 * (rank - 1 - i);
    const int64_t before = pair < pad.size() ? pad[pair] : 0;
    const int64_t after = pair < pad.size() ? pad[pair + 1] : 0;
    const int64_t size = self.size(i);
    if (before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX || after > INT32_MAX ||
        size + before + after < 0) {
      return fail_padding(context, before, after, size, i);
    }
    sizes[i] = size + before + after;
    fills = fills || before > 0 || after > 0;
    const int64_t first = std::max<int64_t>(-before, 0);
    dimensions[i].add({first + before, first, std::min(size, size + after) - first, 1});
  }
  if (!resize_to(context, out, std::span(sizes).first(rank)) ||
      (fills && !fill_elements(context, value, out, Layout(out)))) {
    return;
  }
  copy_segments(context, self, std::span(dimensions).first(rank), out);
}

enum class PadMode : uint8_t { kReflection, kReplication };

// Pads the last `spatial` dimensions. `padding` has the padding before and after each of these
// dimensions, beginning with the last dimension. Negative padding crops.
void pad_edges(KernelContext& context, const Tensor& self, std::span<const int64_t> padding,
               size_t spatial, PadMode mode, Tensor& out) {
  const size_t rank = self.rank();
  if (padding.size() != 2 * spatial || (rank != spatial + 1 && rank != spatial + 2)) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "padding has %zu numbers and self has rank %zu, expected %zu numbers and rank %zu or %zu",
        padding.size(), rank, 2 * spatial, spatial + 1, spatial + 2);
  }
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  std::array<SegmentList, kMaxRank> dimensions;
  std::array<int64_t, kMaxRank> sizes;
  const int64_t is_reflection = mode == PadMode::kReflection ? 1 : 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = self.size(i);
    sizes[i] = size;
    if (i < rank - spatial) {
      dimensions[i].add({0, 0, size, 1});
      continue;
    }
    const int64_t before = padding[2 * (rank - 1 - i)];
    const int64_t after = padding[2 * (rank - 1 - i) + 1];
    // Reflection does not repeat the edge element, so each padding is at most size - 1.
    const int64_t max_padding = is_reflection != 0 ? size - 1 : INT32_MAX;
    if (size < 1 || before > max_padding || after > max_padding || before < -size ||
        after < -size || size + before + after < 1) {
      return fail_padding(context, before, after, size, i);
    }
    sizes[i] = size + before + after;
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t last = std::min(size, size + after);
    const int64_t left = std::min(before, sizes[i]);
    const int64_t right_start = std::max<int64_t>(size + before, 0);
    dimensions[i].add({0, is_reflection * before, left, -is_reflection});
    dimensions[i].add({first + before, first, last - first, 1});
    dimensions[i].add(
        {right_start, size - 1 - is_reflection, sizes[i] - right_start, -is_reflection});
  }
  if (resize_to(context, out, std::span(sizes).first(rank))) {
    copy_segments(context, self, std::span(dimensions).first(rank), out);
  }
}

template <PadMode mode, size_t spatial>
void pad_out(KernelContext& context, const Tensor& self, std::span<const int64_t> padding,
             Tensor& out) {
  pad_edges(context, self, padding, spatial, mode, out);
}

}  // namespace

VITRINE_KERNEL(constant_pad_nd_out, "aten::constant_pad_nd.out", constant_pad_nd_out);
VITRINE_KERNEL(reflection_pad1d_out, "aten::reflection_pad1d.out",
               (pad_out<PadMode::kReflection, 1>));
VITRINE_KERNEL(reflection_pad2d_out, "aten::reflection_pad2d.out",
               (pad_out<PadMode::kReflection, 2>));
VITRINE_KERNEL(reflection_pad3d_out, "aten::reflection_pad3d.out",
               (pad_out<PadMode::kReflection, 3>));
VITRINE_KERNEL(replication_pad1d_out, "aten::replication_pad1d.out",
               (pad_out<PadMode::kReplication, 1>));
VITRINE_KERNEL(replication_pad2d_out, "aten::replication_pad2d.out",
               (pad_out<PadMode::kReplication, 2>));
VITRINE_KERNEL(replication_pad3d_out, "aten::replication_pad3d.out",
               (pad_out<PadMode::kReplication, 3>));

}  // namespace vitrine::portable
