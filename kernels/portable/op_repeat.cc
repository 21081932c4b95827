#include "kernels/util/element_copy.h"
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
    context.fail(ErrorCode::kInvalidArgument, "repeats must be at least %zu numbers, none negative",
                 view.rank);
    return;
  }
  while (view.rank < rank) view.insert(0, 1, 0);
  std::array<int64_t, kMaxRank> sizes;
  for (size_t i = 0; i < rank; ++i) sizes[i] = view.sizes[i] * repeats[i];
  if (!resize_to(context, out, {sizes.data(), rank})) return;
  if (out.numel() == 0) return;
  // Each dimension as two: which repetition, and where in it.
  Layout target(out);
  for (size_t i = rank; i-- > 0;) {
    target.split(i, view.sizes[i]);
    view.insert(i, repeats[i], 0);
  }
  (void)copy_elements(context, self, view, out, target);
}

}  // namespace

VITRINE_KERNEL(repeat_out, "aten::repeat.out", repeat_out);

}  // namespace vitrine::portable
