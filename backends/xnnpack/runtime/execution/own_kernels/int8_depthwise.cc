// Runs int8 depthwise convolutions with a scale per channel, using dot-product instructions.
#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "backends/xnnpack/runtime/execution/runtime_access.h"
#include "kernels/optimized/simd/int8_depthwise.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Returns XNNPACK's kernel for `op`, or null if Vitrine's kernel cannot replace that kernel.
const xnn_dwconv_config* int8_depthwise_config(const xnn_operator& op) {
  if (op.type != xnn_operator_type_convolution_nhwc_qc8 ||
      op.ukernel.type != xnn_microkernel_type_dwconv || !has_avx512_vnni()) {
    return nullptr;
  }
  const xnn_dwconv_config* const configs = xnn_init_qs8_qc8w_dwconv_config();
  if (configs == nullptr) return nullptr;
  for (size_t i = 0; i < XNN_MAX_QC8_DWCONV_UKERNELS; ++i) {
    if (runs_simple_tiles(op, configs[i])) return &configs[i];
  }
  return nullptr;
}

bool is_int8_depthwise(const xnn_operator& op) { return int8_depthwise_config(op) != nullptr; }

simd::Int8DepthwiseWindow window_of(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  const uint32_t columns = convolution.kernel_width;
  return {.channels = convolution.groups,
          .rows = convolution.kernel_height,
          .columns = columns,
          .step = convolution.dilation_width == 1 ? std::min(convolution.stride_width, columns)
                                                  : columns};
}

size_t int8_depthwise_bytes(const xnn_operator& op) {
  return is_int8_depthwise(op) ? window_of(op).weight_bytes() : 0;
}

// XNNPACK packs the weights in tiles of channels: the biases, the weights of each tap, and the
// scales. The packed biases are already corrected for the zero points.
void copy_int8_depthwise_weights(xnn_operator& op, const RawWeights&, std::byte* to) {
  const simd::Int8DepthwiseWindow window = window_of(op);
  const size_t tile = int8_depthwise_config(op)->channel_tile;
  const size_t taps = window.rows * window.columns;
  const size_t tile_bytes = tile * (sizeof(int32_t) + taps + sizeof(float));
  const auto* const from = static_cast<const std::byte*>(packed_weights(&op));
  for (size_t channel = 0; channel < window.channels; ++channel) {
    const std::byte* const weights = from + channel / tile * tile_bytes;
    const size_t i = channel % tile;
    int32_t bias;
    float scale;
    std::memcpy(&bias, weights + i * sizeof(bias), sizeof(bias));
    std::memcpy(&scale, weights + tile * (sizeof(bias) + taps) + i * sizeof(scale), sizeof(scale));
    window.pack(channel, bias, reinterpret_cast<const int8_t*>(weights + tile * sizeof(bias) + i),
                tile, scale, to);
  }
}

// A task that XNNPACK calls with its own context. use_int8_depthwise() has stored Vitrine's weights
// in `packed_weights` and the window's number of rows in depthwise_spare().
void int8_depthwise_pixels(const dwconv_context* context, size_t image, size_t y) {
  const size_t rows = depthwise_spare(*context);
  const auto& params = reinterpret_cast<const xnn_qs8_qc8w_conv_minmax_params&>(context->params);
  simd::int8_depthwise_row(
      {.channels = context->groups,
       .rows = rows,
       .columns = context->kernel_size / rows,
       .step = static_cast<size_t>(context->indirect_input_width_stride) / (rows * sizeof(void*))},
      {.in = reinterpret_cast<const int8_t* const*>(
           at_byte(context->indirect_input, y * context->indirect_input_height_stride)),
       .zero = static_cast<const int8_t*>(context->zero),
       .offset = context->input_offset + image * context->input_batch_stride,
       .weights = static_cast<const std::byte*>(context->packed_weights),
       .out = static_cast<int8_t*>(context->output) + image * context->output_batch_stride +
              y * context->output_height_stride,
       .out_stride = depthwise_pixel_stride(*context),
       .pixels = context->output_width,
       .zero_point = params.fp32_scalar.output_zero_point,
       .min = static_cast<int8_t>(params.fp32_scalar.output_min),
       .max = static_cast<int8_t>(params.fp32_scalar.output_max)});
}

void use_int8_depthwise(xnn_operator& op, const std::byte* weights) {
  dwconv_context& context = depthwise_context_of(op);
  context.packed_weights = weights;
  depthwise_spare(context) = convolution_of(op).kernel_height;
  const bool makes_table = (op.flags & XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER) != 0;
  compute_parameters& compute = op.compute[makes_table ? 1 : 0];
  compute.type = xnn_parallelization_type_2d;
  compute.task_2d = reinterpret_cast<pthreadpool_task_2d_t>(&int8_depthwise_pixels);
}

}  // namespace

constinit const Replacement kInt8Depthwise = {"Vitrine Depthwise Convolution (NHWC, QC8)",
                                              &is_int8_depthwise, &use_int8_depthwise,
                                              &int8_depthwise_bytes, &copy_int8_depthwise_weights};

}  // namespace vitrine::xnnpack::own_kernels
