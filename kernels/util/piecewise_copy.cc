#include "kernels/util/piecewise_copy.h"

#include <algorithm>

#include "kernels/util/checks.h"

namespace vitrine {

void copy_segments(KernelContext& context, const Tensor& self,
                   std::span<const SegmentList> dimensions, Tensor& out) {
  for (const SegmentList& list : dimensions) {
    if (list.count == 0) return;
  }
  std::array<size_t, kMaxRank> choice{};
  while (true) {
    Layout from(self);
    Layout to(out);
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const Segment& segment = dimensions[i].items[choice[i]];
      from.narrow(i, segment.from, segment.length, segment.step);
      to.narrow(i, segment.to, segment.length);
    }
    if (!copy_elements(context, self, from, out, to)) return;
    size_t dim = dimensions.size();
    while (dim > 0 && ++choice[dim - 1] == dimensions[dim - 1].count) choice[--dim] = 0;
    if (dim == 0) return;
  }
}

void pad_edges(KernelContext& context, const Tensor& self, std::span<const int64_t> padding,
               size_t spatial, PadMode mode, Tensor& out) {
  const size_t rank = self.rank();
  if (padding.size() != 2 * spatial || (rank != spatial + 1 && rank != spatial + 2)) {
    context.fail(ErrorCode::kInvalidArgument,
                 "%zu paddings of a tensor of rank %zu: %zu and a rank of %zu or %zu are needed",
                 padding.size(), rank, 2 * spatial, spatial + 1, spatial + 2);
    return;
  }
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  std::array<SegmentList, kMaxRank> dimensions{};
  std::array<int64_t, kMaxRank> sizes;
  const int64_t mirrored = mode == PadMode::kReflection ? 1 : 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = self.size(i);
    sizes[i] = size;
    if (i < rank - spatial) {
      dimensions[i].add({0, 0, size, 1});
      continue;
    }
    const int64_t before = padding[2 * (rank - 1 - i)];
    const int64_t after = padding[2 * (rank - 1 - i) + 1];
    // Mirroring needs one element more than it adds: the edge itself is not repeated.
    const int64_t most = mirrored != 0 ? size - 1 : INT32_MAX;
    if (size < 1 || before > most || after > most || before < -size || after < -size ||
        size + before + after < 1) {
      context.fail(ErrorCode::kInvalidArgument,
                   "padding %lld, %lld does not suit the %lld elements of dimension %zu",
                   static_cast<long long>(before), static_cast<long long>(after),
                   static_cast<long long>(size), i);
      return;
    }
    sizes[i] = size + before + after;
    const int64_t first = std::max<int64_t>(-before, 0);
    const int64_t last = std::min(size, size + after);
    // With both paddings negative and positive in turn, the parts are cropped by each other's end.
    const int64_t left = std::min(before, sizes[i]);
    const int64_t right_start = std::max<int64_t>(size + before, 0);
    dimensions[i].add({0, mirrored * before, left, -mirrored});
    dimensions[i].add({first + before, first, last - first, 1});
    dimensions[i].add({right_start, size - 1 - mirrored, sizes[i] - right_start, -mirrored});
  }
  if (resize_to(context, out, std::span(sizes).first(rank))) {
    copy_segments(context, self, std::span(dimensions).first(rank), out);
  }
}

}  // namespace vitrine
