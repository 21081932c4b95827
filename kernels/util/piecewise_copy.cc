#include "kernels/util/piecewise_copy.h"

#include "kernels/util/checks.h"

namespace vitrine {

namespace {

// Larger outputs are copied with several threads instead.
constexpr int64_t kMaxSegmentElements = 4096;

struct SegmentCopy {
  const ElementMover& mover;
  const void* self;
  void* out;
  std::span<const SegmentList> dimensions;
  std::span<const int64_t> from_strides;
  std::span<const int64_t> to_strides;

  // Copies the segments of dimension `dim` and of all later dimensions. `from` and `to` are the
  // offsets of the first element.
  void copy(size_t dim, int64_t from, int64_t to) const {
    const int64_t to_stride = to_strides[dim];
    for (size_t i = 0; i < dimensions[dim].count; ++i) {
      const Segment& segment = dimensions[dim].items[i];
      const int64_t step = segment.step * from_strides[dim];
      int64_t source = from + segment.from * from_strides[dim];
      int64_t target = to + segment.to * to_stride;
      if (dim + 1 == dimensions.size()) {
        mover.move(self, source, step, out, target, to_stride, segment.length);
        continue;
      }
      for (int64_t k = 0; k < segment.length; ++k, source += step, target += to_stride) {
        copy(dim + 1, source, target);
      }
    }
  }
};

}  // namespace

void copy_segments(KernelContext& context, const Tensor& self,
                   std::span<const SegmentList> dimensions, Tensor& out) {
  for (const SegmentList& list : dimensions) {
    if (list.count == 0) return;
  }
  if (!dimensions.empty() && out.numel() <= kMaxSegmentElements) {
    if (!check_data(context, {&self, &out})) return;
    const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
    if (!mover) return;
    return SegmentCopy{*mover,     self.raw_data(), out.mutable_raw_data(),
                       dimensions, self.strides(),  out.strides()}
        .copy(0, 0, 0);
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

}  // namespace vitrine
