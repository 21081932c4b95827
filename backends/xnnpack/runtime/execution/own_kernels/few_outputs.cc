// Runs f32 convolutions with up to four output channels. XNNPACK's kernels compute 2 or 16 output
// channels at a time (cmake/third_party/f32_gemm_choice.c).
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "kernels/optimized/simd/few_outputs.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

bool reads_table(const xnn_operator& op) { return op.ukernel.type == xnn_microkernel_type_igemm; }

// Returns the minimum number of SIMD vectors of input channels for which this kernel is faster. At
// the end, the kernel adds up the lanes of each vector of sums, which is much work for windows with
// only one tap. XNNPACK's kernel for two outputs uses all lanes, so two outputs have higher limits.
size_t min_vectors(size_t out_channels, bool reads_table) {
  if (out_channels == 2) return reads_table ? 4 : 8;
  return reads_table ? 1 : out_channels + 1;
}

template <bool kIsPointwise>
bool has_few_outputs(const xnn_operator& op) {
  if (op.type != xnn_operator_type_convolution_nhwc_f32) return false;
  const auto& convolution = convolution_of(op);
  return op.ukernel.type ==
             (kIsPointwise ? xnn_microkernel_type_gemm : xnn_microkernel_type_igemm) &&
         convolution.groups == 1 && convolution.group_output_channels <= simd::FewOutputs::kMax &&
         fill_vectors<float>(convolution.group_input_channels, 1) &&
         op.output_pixel_stride == convolution.group_output_channels;
}

bool is_faster_few_outputs(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  return fill_vectors<float>(convolution.group_input_channels,
                             min_vectors(convolution.group_output_channels, reads_table(op)));
}

simd::FewOutputs shape_of(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  return {.in_channels = static_cast<int64_t>(convolution.group_input_channels),
          .out_channels = static_cast<int64_t>(convolution.group_output_channels),
          .taps = int64_t{convolution.kernel_height} * convolution.kernel_width};
}

template <bool kIsPointwise>
size_t few_outputs_weight_bytes(const xnn_operator& op) {
  if (!has_few_outputs<kIsPointwise>(op)) return 0;
  return static_cast<size_t>(shape_of(op).weight_floats()) * sizeof(float);
}

template <bool kIsPointwise>
bool owns_few_outputs_weights(const Graph& graph, const Node& node) {
  const Window& w = node.window;
  const bool is_product =
      w.kernel_height == 1 && w.kernel_width == 1 && w.stride_height == 1 && w.stride_width == 1 &&
      (w.padding_top | w.padding_right | w.padding_bottom | w.padding_left) == 0;
  return is_kind(node, "Conv2d") && is_product == kIsPointwise &&
         graph.values[node.inputs[0]].datatype->xnn == xnn_datatype_fp32 && node.groups == 1 &&
         node.group_output_channels <= simd::FewOutputs::kMax &&
         fill_vectors<float>(node.group_input_channels,
                             min_vectors(node.group_output_channels, !is_product));
}

void copy_few_outputs_weights(xnn_operator& op, const RawWeights& weights, std::byte* bytes) {
  const simd::FewOutputs shape = shape_of(op);
  auto* const to = reinterpret_cast<float*>(bytes);
  size_t at = 0;
  for (int64_t o = 0; o < shape.out_channels; ++o) {
    shape.set_bias(o, weights.bias(static_cast<size_t>(o)), to);
    for (int64_t tap = 0; tap < shape.taps; ++tap) {
      for (int64_t channel = 0; channel < shape.in_channels; ++channel) {
        to[shape.weight_at(tap, channel, o)] = weights.weight(at++);
      }
    }
  }
}

// A task that XNNPACK calls with its own context. `packed_w` points to Vitrine's weights.
void few_outputs_by_table(const igemm_context* context, size_t image, size_t first, size_t count) {
  const auto outputs = static_cast<int64_t>(context->cm_stride / sizeof(float));
  simd::convolve_few_outputs(
      {.in_channels = static_cast<int64_t>(context->kc / sizeof(float)),
       .out_channels = outputs,
       .taps = static_cast<int64_t>(context->ks)},
      static_cast<const float*>(context->packed_w),
      {.in = {.table = reinterpret_cast<const float* const*>(context->indirect_a),
              .tile = static_cast<int64_t>(context->ks_scaled / (context->ks * sizeof(void*))),
              .offset = context->a_offset + image * context->ba_stride,
              .padding = static_cast<const float*>(context->zero)},
       .first = static_cast<int64_t>(first),
       .count = static_cast<int64_t>(count),
       .out = at_byte(static_cast<float*>(context->c),
                      image * context->bc_stride + first * context->cm_stride),
       .min = context->params.f32.scalar.min,
       .max = context->params.f32.scalar.max});
}

void few_outputs_by_pixel(const gemm_context* context, size_t first, size_t count) {
  simd::convolve_few_outputs(
      {.in_channels = static_cast<int64_t>(context->k_scaled / sizeof(float)),
       .out_channels = static_cast<int64_t>(context->cm_stride / sizeof(float)),
       .taps = 1},
      static_cast<const float*>(context->packed_w),
      {.in = {.image = static_cast<const float*>(context->a),
              .image_step = static_cast<int64_t>(context->a_stride / sizeof(float))},
       .first = static_cast<int64_t>(first),
       .count = static_cast<int64_t>(count),
       .out = at_byte(static_cast<float*>(context->c), first * context->cm_stride),
       .min = context->params.f32.scalar.min,
       .max = context->params.f32.scalar.max});
}

void use_few_outputs(xnn_operator& op, const std::byte* weights) {
  const simd::FewOutputs shape = shape_of(op);
  const size_t products = static_cast<size_t>(shape.taps * shape.in_channels * shape.out_channels);
  const size_t tile = std::max<size_t>(1, kTaskProducts / products);
  const size_t pixels = convolution_of(op).output_height * convolution_of(op).output_width;
  if (!reads_table(op)) {
    gemm_context_of(op).packed_w = weights;
    compute_parameters& compute = op.compute[0];
    compute.type = xnn_parallelization_type_1d_tile_1d;
    compute.task_1d_tile_1d =
        reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(&few_outputs_by_pixel);
    compute.range[0] = op.batch_size * pixels;
    compute.tile[0] = tile;
    return;
  }
  igemm_context_of(op).packed_w = weights;
  const bool makes_table = (op.flags & XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER) != 0;
  compute_parameters& compute = op.compute[makes_table ? 1 : 0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(&few_outputs_by_table);
  compute.range[0] = op.batch_size;
  compute.range[1] = pixels;
  compute.tile[0] = tile;
}

template <bool kIsPointwise>
constexpr Replacement few_outputs(const char* name) {
  return {.name = name,
          .fits = &has_few_outputs<kIsPointwise>,
          .install = &use_few_outputs,
          .weight_bytes = &few_outputs_weight_bytes<kIsPointwise>,
          .copy_weights = &copy_few_outputs_weights,
          .owns_weights = &owns_few_outputs_weights<kIsPointwise>,
          .is_faster = &is_faster_few_outputs};
}

}  // namespace

const Replacement kFewOutputs =
    few_outputs<false>("Vitrine Convolution with Few Outputs (NHWC, F32)");
#ifndef VITRINE_XNNPACK_UPSTREAM  // list.inc gives the reason
const Replacement kFewPointwiseOutputs =
    few_outputs<true>("Vitrine Pointwise Convolution with Few Outputs (NHWC, F32)");
#endif

}  // namespace vitrine::xnnpack::own_kernels
