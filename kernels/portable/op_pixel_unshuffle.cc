#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// [..., C, H * f, W * f] -> [..., C * f * f, H, W]
void pixel_unshuffle_out(KernelContext& context, const Tensor& self, int64_t downscale_factor,
                         Tensor& out) {
  const int64_t factor = downscale_factor;
  const size_t rank = self.rank();
  if (rank < 3 || factor < 1 || factor > INT32_MAX || self.size(rank - 2) % factor != 0 ||
      self.size(rank - 1) % factor != 0) {
    context.fail(ErrorCode::kInvalidArgument,
                 "downscale_factor %lld does not suit the images of self, of rank %zu",
                 static_cast<long long>(factor), rank);
    return;
  }
  Layout result(self);
  if (mul_overflows(result.sizes[rank - 3], factor * factor, &result.sizes[rank - 3])) {
    context.fail(ErrorCode::kInvalidArgument, "downscale_factor %lld is too large",
                 static_cast<long long>(factor));
    return;
  }
  result.sizes[rank - 2] /= factor;
  result.sizes[rank - 1] /= factor;
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, result.size_span())) {
    return;
  }
  Layout from(self);  // C H f W f
  from.split(rank - 1, factor);
  from.split(rank - 2, factor);
  from.swap(rank - 2, rank - 1);  // C f H W f
  from.swap(rank - 1, rank + 1);  // C f f W H
  from.swap(rank, rank + 1);      // C f f H W
  Layout to(out);                 // C f f H W
  to.split(rank - 3, factor * factor);
  to.split(rank - 2, factor);
  (void)copy_elements(context, self, from, out, to);
}

}  // namespace

VITRINE_KERNEL(pixel_unshuffle_out, "aten::pixel_unshuffle.out", pixel_unshuffle_out);

}  // namespace vitrine::portable
