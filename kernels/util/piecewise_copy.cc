#include "kernels/util/piecewise_copy.h"

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

}  // namespace vitrine
