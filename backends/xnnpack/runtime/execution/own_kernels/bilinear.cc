// Resizes images in f32 by bilinear interpolation.
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/pixels.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

size_t channels_of(const xnn_operator& op) {
  return op.context.resize_bilinear.scaled_channels / sizeof(float);
}

bool is_bilinear(const xnn_operator& op) {
  return is_f32_resize(op) && fill_vectors<float>(channels_of(op), 1);
}

bool is_faster_bilinear(const xnn_operator& op) {
  return fill_vectors<float>(channels_of(op), has_wide_vectors() ? 1 : 3);
}

void compute_bilinear(size_t pixels, size_t channel_bytes, const float** corners, size_t offset,
                      const float* weights, float* out, size_t out_increment) {
  simd::interpolate_pixels(
      {.corners = corners,
       .offset = offset,
       .weights = weights,
       .out = out,
       .out_step = static_cast<int64_t>((channel_bytes + out_increment) / sizeof(float)),
       .channels = static_cast<int64_t>(channel_bytes / sizeof(float)),
       .count = static_cast<int64_t>(pixels)});
}

void use_bilinear(xnn_operator& op, const std::byte*) {
  op.context.resize_bilinear.ukernel =
      reinterpret_cast<xnn_ibilinear_ukernel_fn>(&compute_bilinear);
}

}  // namespace

const Replacement kBilinear = {.name = "Vitrine Bilinear Resize (NHWC, F32)",
                               .fits = &is_bilinear,
                               .install = &use_bilinear,
                               .is_faster = &is_faster_bilinear};

}  // namespace vitrine::xnnpack::own_kernels
