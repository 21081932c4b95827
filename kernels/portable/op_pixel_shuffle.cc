#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// [..., C * f * f, H, W] -> [..., C, H * f, W * f]
void pixel_shuffle_out(KernelContext& context, const Tensor& self, int64_t upscale_factor,
                       Tensor& out) {
  const int64_t factor = upscale_factor;
  const size_t rank = self.rank();
  if (rank < 3 || factor < 1 || factor > INT32_MAX ||
      self.size(rank - 3) % (factor * factor) != 0) {
    context.fail(ErrorCode::kInvalidArgument,
                 "upscale_factor %lld does not suit the channels of self, of rank %zu",
                 static_cast<long long>(factor), rank);
    return;
  }
  Layout result(self);
  result.sizes[rank - 3] /= factor * factor;
  result.sizes[rank - 2] *= factor;
  result.sizes[rank - 1] *= factor;
  if (!check_dtype(context, out, self.dtype(), "out") ||
      !resize_to(context, out, result.size_span())) {
    return;
  }
  Layout from(self);  // C f f H W
  from.split(rank - 3, factor * factor);
  from.split(rank - 2, factor);
  Layout to(out);  // C H f W f
  to.split(rank - 1, factor);
  to.split(rank - 2, factor);
  to.swap(rank - 2, rank - 1);  // C f H W f
  to.swap(rank - 1, rank + 1);  // C f f W H
  to.swap(rank, rank + 1);      // C f f H W
  (void)copy_elements(context, self, from, out, to);
}

}  // namespace

VITRINE_KERNEL(pixel_shuffle_out, "aten::pixel_shuffle.out", pixel_shuffle_out);

}  // namespace vitrine::portable
