// Runs f32 batch norms, which XNNPACK runs as depthwise convolutions with windows of one pixel: a
// scale and a bias per channel.
#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/pixels.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

bool is_batch_norm(const xnn_operator& op) {
  return op.type == xnn_operator_type_convolution_nhwc_f32 &&
         op.ukernel.type == xnn_microkernel_type_vmulcaddc;
}

bool is_faster_batch_norm(const xnn_operator& op) {
  return fill_vectors<float>(convolution_of(op).groups, 1);
}

size_t batch_norm_weight_bytes(const xnn_operator& op) {
  return is_batch_norm(op) ? convolution_of(op).groups * (2 * sizeof(float)) : 0;
}

// Writes all scales, then all biases.
void copy_batch_norm_weights(xnn_operator& op, const RawWeights& weights, std::byte* bytes) {
  auto* const to = reinterpret_cast<float*>(bytes);
  for (size_t channel = 0; channel < convolution_of(op).groups; ++channel) {
    to[channel] = weights.weight(channel);
    to[convolution_of(op).groups + channel] = weights.bias(channel);
  }
}

void compute_batch_norm(size_t pixels, size_t channel_bytes, const float* in, size_t in_stride,
                        const float* weights, float* out, size_t out_stride,
                        const xnn_f32_minmax_params* params) {
  const size_t channels = channel_bytes / sizeof(float);
  simd::scale_pixels({.in = in,
                      .in_step = static_cast<int64_t>(in_stride / sizeof(float)),
                      .scales = weights,
                      .biases = weights + channels,
                      .out = out,
                      .out_step = static_cast<int64_t>(out_stride / sizeof(float)),
                      .channels = static_cast<int64_t>(channels),
                      .count = static_cast<int64_t>(pixels),
                      .min = params->scalar.min,
                      .max = params->scalar.max});
}

void use_batch_norm(xnn_operator& op, const std::byte* weights) {
  op.context.vmulcaddc.w = weights;
  op.context.vmulcaddc.ukernel = reinterpret_cast<xnn_vmulcaddc_ukernel_fn>(&compute_batch_norm);
}

}  // namespace

const Replacement kBatchNorm = {.name = "Vitrine Batch Norm (NHWC, F32)",
                                .fits = &is_batch_norm,
                                .install = &use_batch_norm,
                                .weight_bytes = &batch_norm_weight_bytes,
                                .copy_weights = &copy_batch_norm_weights,
                                .is_faster = &is_faster_batch_norm};

}  // namespace vitrine::xnnpack::own_kernels
