#include "kernels/util/checks.h"
#include "kernels/util/piecewise_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The new position of index 0, 0 .. size-1.
int64_t turned(int64_t shift, int64_t size) {
  shift %= size;
  return shift < 0 ? shift + size : shift;
}

SegmentList turned_segments(int64_t start, int64_t size) {
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
    context.fail(ErrorCode::kInvalidArgument, "%zu shifts do not suit %zu dims", shifts.size(),
                 dims.size());
    return;
  }
  if (dims.empty()) {  // all elements as one row
    if (!check_contiguous(context, self, "self") || !check_contiguous(context, out, "out")) return;
    const int64_t count = self.numel();
    const SegmentList list = turned_segments(turned(shifts[0], count), count);
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
    starts[*dim] = (starts[*dim] + turned(shifts[i], size)) % size;
  }
  std::array<SegmentList, kMaxRank> dimensions;
  for (size_t i = 0; i < self.rank(); ++i) {
    dimensions[i] = turned_segments(starts[i], self.size(i));
  }
  copy_segments(context, self, std::span(dimensions).first(self.rank()), out);
}

}  // namespace

VITRINE_KERNEL(roll_out, "aten::roll.out", roll_out);

}  // namespace vitrine::portable
