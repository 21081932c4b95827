// Maximum pooling in f32 and int8, and average pooling in f32.
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/pixels.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// XNNPACK keeps larger windows, which seldom overlap, so that reading the image takes most of the
// time of either kernel. With AVX2, our kernels are faster only for small windows of floats.
template <class T>
bool has_our_size(const xnn_operator& op) {
  const int64_t taps = int64_t{op.kernel_height} * op.kernel_width;
  const bool has_avx512 = simd::gemm_shape().lanes >= 16;
  const bool is_small =
      has_avx512 ? taps <= simd::PixelWindows<T>::kMaxTaps : taps <= 9 && std::is_same_v<T, float>;
  return is_small && fill_vectors<T>(op.channels, 2);
}

// Number of pointers from window to window in XNNPACK's table. Windows share pointers to columns.
size_t table_step(const xnn_operator& op) {
  const uint32_t columns =
      op.dilation_width > 1 ? op.kernel_width : std::min(op.stride_width, op.kernel_width);
  return size_t{columns} * op.kernel_height;
}

template <class T>
bool is_max_pooling(const xnn_operator& op) {
  return op.type == (std::is_same_v<T, float> ? xnn_operator_type_max_pooling_nhwc_f32
                                              : xnn_operator_type_max_pooling_nhwc_s8) &&
         has_our_size<T>(op);
}

// The parameters are those of XNNPACK's kernels, except `step`, which counts pointers.
template <class T, class Params>
void compute_max_pooling(size_t pixels, size_t taps, size_t channels, const T** in, size_t offset,
                         T* out, size_t step, size_t out_increment, const Params* params) {
  simd::largest_pixels({.in = in,
                        .step = static_cast<int64_t>(step),
                        .taps = static_cast<int64_t>(taps),
                        .offset = offset,
                        .padding = nullptr,
                        .out = out,
                        .out_step = static_cast<int64_t>(channels + out_increment / sizeof(T)),
                        .channels = static_cast<int64_t>(channels),
                        .count = static_cast<int64_t>(pixels),
                        .min = static_cast<T>(params->scalar.min),
                        .max = static_cast<T>(params->scalar.max)});
}

template <class T, class Params>
void use_max_pooling(xnn_operator& op, const std::byte*) {
  max_pooling_context& context = op.context.max_pooling;
  context.ukernel = reinterpret_cast<xnn_maxpool_ukernel_fn>(&compute_max_pooling<T, Params>);
  context.input_increment = table_step(op);
}

template <bool kIsPadded>
bool is_average_pooling(const xnn_operator& op) {
  return op.type == xnn_operator_type_average_pooling_nhwc_f32 && has_our_size<float>(op) &&
         op.ukernel.type == (kIsPadded ? xnn_microkernel_type_pixelwise_average_pooling
                                       : xnn_microkernel_type_average_pooling);
}

// XNNPACK's table of pointers has a line for each line of the result whose windows the upper or
// lower edge cuts, and one line that all others share.
struct TableLine {
  template <class Context>
  TableLine(const Context& context, size_t y) {
    const bool is_below = y >= context.indirect_bot_start;
    const size_t line = std::min(y, context.indirect_top_height) +
                        (is_below ? y + 1 - context.indirect_bot_start : 0);
    first = reinterpret_cast<const float* const*>(
        at_byte(context.indirect_input, line * context.indirect_input_height_stride));
    if (!is_below) offset = (y - line) * context.input_y_stride;
  }

  const float* const* first;
  size_t offset = 0;
};

// The context is XNNPACK's, but `input_increment` is the number of pointers from window to window.
template <class Context>
void average_line(const Context* context, size_t image, size_t y) {
  constexpr bool kIsPadded = std::is_same_v<Context, pixelwise_average_pooling_context>;
  const TableLine line(*context, y);
  const size_t pixel = context->channels + context->output_increment / sizeof(float);
  const auto& bounds = context->params.f32.scalar;
  simd::PixelWindows<float> windows = {
      .in = line.first,
      .step = static_cast<int64_t>(context->input_increment),
      .taps = static_cast<int64_t>(context->pooling_size),
      .offset = context->input_offset + image * context->input_batch_stride + line.offset,
      .padding = nullptr,
      .out = at_byte(static_cast<float*>(context->output),
                     image * context->output_batch_stride + y * context->output_height_stride),
      .out_step = static_cast<int64_t>(pixel),
      .channels = static_cast<int64_t>(context->channels),
      .count = static_cast<int64_t>(context->output_width),
      .min = bounds.min,
      .max = bounds.max};
  if constexpr (kIsPadded) {
    windows.padding = static_cast<const float*>(context->zero);
    simd::scaled_sums_of_pixels(windows,
                                at_byte(static_cast<const float*>(context->pixelwise_buffer),
                                        y * context->pixelwise_buffer_height_stride),
                                1);
  } else {
    simd::scaled_sums_of_pixels(windows, &bounds.scale, 0);
  }
}

template <bool kIsPadded>
void use_average_pooling(xnn_operator& op, const std::byte*) {
  auto& context = [&op]() -> auto& {
    if constexpr (kIsPadded)
      return op.context.pixelwise_average_pooling;
    else
      return op.context.average_pooling;
  }
  ();
  context.input_increment = table_step(op);
  compute_parameters& compute = op.compute[0];
  compute.type = xnn_parallelization_type_2d;
  compute.task_2d = reinterpret_cast<pthreadpool_task_2d_t>(
      &average_line<std::remove_reference_t<decltype(context)>>);
}

}  // namespace

const Replacement kMaxPooling = {"Vitrine Max Pooling (NHWC, F32)", &is_max_pooling<float>,
                                 &use_max_pooling<float, xnn_f32_minmax_params>};
const Replacement kInt8MaxPooling = {"Vitrine Max Pooling (NHWC, S8)", &is_max_pooling<int8_t>,
                                     &use_max_pooling<int8_t, xnn_s8_minmax_params>};
const Replacement kAveragePooling = {"Vitrine Average Pooling (NHWC, F32)",
                                     &is_average_pooling<false>, &use_average_pooling<false>};
const Replacement kPaddedAveragePooling = {"Vitrine Average Pooling (NHWC, F32)",
                                           &is_average_pooling<true>, &use_average_pooling<true>};

}  // namespace vitrine::xnnpack::own_kernels
