// Channels moved into blocks of f x f pixels, and back.
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "runtime/core/checked_math.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// [..., C * f * f, H, W] as [..., C, f, f, H, W].
Layout split_channels(const Tensor& tensor, int64_t factor) {
  const size_t rank = tensor.rank();
  Layout layout(tensor);
  layout.split(rank - 3, factor * factor);
  layout.split(rank - 2, factor);
  return layout;
}

// [..., C, H * f, W * f] as [..., C, f, f, H, W].
Layout split_pixels(const Tensor& tensor, int64_t factor) {
  const size_t rank = tensor.rank();
  Layout layout(tensor);  // C H f W f
  layout.split(rank - 1, factor);
  layout.split(rank - 2, factor);
  layout.swap(rank - 2, rank - 1);  // C f H W f
  layout.swap(rank - 1, rank + 1);  // C f f W H
  layout.swap(rank, rank + 1);      // C f f H W
  return layout;
}

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
  (void)copy_elements(context, self, split_channels(self, factor), out, split_pixels(out, factor));
}

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
  (void)copy_elements(context, self, split_pixels(self, factor), out, split_channels(out, factor));
}

}  // namespace

VITRINE_KERNEL(pixel_shuffle_out, "aten::pixel_shuffle.out", pixel_shuffle_out);
VITRINE_KERNEL(pixel_unshuffle_out, "aten::pixel_unshuffle.out", pixel_unshuffle_out);

}  // namespace vitrine::portable
