#include <algorithm>
#include "kernels/util/checks.h"
#include "kernels/util/piecewise_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// `pad` has a pair for each of the last dimensions, last dimension first; negative ones crop.
void constant_pad_nd_out(KernelContext& context, const Tensor& self, std::span<const int64_t> pad,
                         const Scalar& value, Tensor& out) {
  const size_t rank = self.rank();
  if (pad.size() % 2 != 0 || pad.size() > 2 * rank) {
    context.fail(ErrorCode::kInvalidArgument, "%zu paddings do not suit a tensor of rank %zu",
                 pad.size(), rank);
    return;
  }
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  std::array<SegmentList, kMaxRank> dimensions{};
  std::array<int64_t, kMaxRank> sizes;
  bool fills = false;
  for (size_t i = 0; i < rank; ++i) {
    const size_t pair = 2 * (rank - 1 - i);
    const int64_t before = pair < pad.size() ? pad[pair] : 0;
    const int64_t after = pair < pad.size() ? pad[pair + 1] : 0;
    const int64_t size = self.size(i);
    if (before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX || after > INT32_MAX ||
        size + before + after < 0) {
      context.fail(ErrorCode::kInvalidArgument,
                   "padding %lld, %lld does not suit the %lld elements of dimension %zu",
                   static_cast<long long>(before), static_cast<long long>(after),
                   static_cast<long long>(size), i);
      return;
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

}  // namespace

VITRINE_KERNEL(constant_pad_nd_out, "aten::constant_pad_nd.out", constant_pad_nd_out);

}  // namespace vitrine::portable
