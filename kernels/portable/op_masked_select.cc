#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "kernels/util/masked.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void masked_select_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                       Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out")) return;
  const std::optional<Masked> masked = broadcast_mask(context, self, mask);
  if (!masked) return;
  int64_t count = 0;
  masked->each_true(mask.data<uint8_t>(), [&](int64_t) { ++count; });
  if (!resize_to(context, out, std::array{count}) || !check_data(context, {&out}) ||
      !check_no_overlap(context, out, {&self, &mask})) {
    return;
  }
  const auto mover = ElementMover::make(context, self.dtype(), out.dtype());
  if (!mover) return;
  int64_t to = 0;
  masked->each_true(mask.data<uint8_t>(), [&](int64_t from) {
    mover->move(self.raw_data(), from, 1, out.mutable_raw_data(), to++, 1, 1);
  });
}

}  // namespace

VITRINE_KERNEL(masked_select_out, "aten::masked_select.out", masked_select_out);

}  // namespace vitrine::portable
