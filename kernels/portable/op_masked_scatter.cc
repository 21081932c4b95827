#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "kernels/util/masked.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// out = self, broadcast with the mask, with the next element of source wherever the mask is true.
void masked_scatter_out(KernelContext& context, const Tensor& self, const Tensor& mask,
                        const Tensor& source, Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !check_dtype(context, source, self.dtype(), "source") || !check_data(context, {&source})) {
    return;
  }
  const std::optional<Masked> shape = broadcast_mask(context, self, mask);
  if (!shape || !resize_to(context, out, shape->self.size_span()) ||
      !copy_broadcast(context, self, out, Layout(out))) {
    return;
  }
  const std::optional<Masked> masked = broadcast_mask(context, out, mask);
  const auto mover = ElementMover::make(context, source.dtype(), out.dtype());
  if (!masked || !mover) return;
  const Layout layout(source);
  int64_t used = 0;
  masked->each_true(mask.data<uint8_t>(), [&](int64_t to) {
    if (used < source.numel()) {
      mover->move(source.raw_data(), layout.offset_of(used), 1, out.mutable_raw_data(), to, 1, 1);
    }
    ++used;
  });
  if (used > source.numel()) {
    context.fail(ErrorCode::kInvalidArgument, "the mask selects %lld elements, but source has %lld",
                 static_cast<long long>(used), static_cast<long long>(source.numel()));
  }
}

}  // namespace

VITRINE_KERNEL(masked_scatter_out, "aten::masked_scatter.out", masked_scatter_out);

}  // namespace vitrine::portable
