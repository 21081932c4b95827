// Runs maximum pooling in f32 and int8, and average pooling in f32.
#include <algorithm>

#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/pixels.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

int64_t taps_of(const xnn_operator& op) {
  const auto& window = convolution_of(op);
  return int64_t{window.kernel_height} * window.kernel_width;
}

// Returns true if these kernels support the sizes of the operator. Windows of more than kMaxTaps
// elements seldom overlap, so any kernel spends most of its time reading the image.
template <class T>
bool has_our_size(const xnn_operator& op) {
  return taps_of(op) <= simd::PixelWindows<T>::kMaxTaps && fill_vectors<T>(op.channels, 1);
}

// With AVX2, these kernels are faster only for small windows of floats.
template <class T, size_t kMinVectors>
bool is_faster_pooling(const xnn_operator& op) {
  const bool is_small = taps_of(op) <= 9 && std::is_same_v<T, float>;
  return has_wide_vectors() ? fill_vectors<T>(op.channels, kMinVectors)
                            : is_small && fill_vectors<T>(op.channels, 2);
}

// The number of pointers from one window to the next in XNNPACK's table. Overlapping windows share
// the pointers of common columns.
size_t table_step(const xnn_operator& op) {
  const auto& window = convolution_of(op);
  const uint32_t columns = window.dilation_width > 1
                               ? window.kernel_width
                               : std::min(window.stride_width, window.kernel_width);
  return size_t{columns} * window.kernel_height;
}

template <class T>
bool is_max_pooling(const xnn_operator& op) {
  return op.type == (std::is_same_v<T, float> ? xnn_operator_type_max_pooling_nhwc_f32
                                              : xnn_operator_type_max_pooling_nhwc_s8) &&
         has_our_size<T>(op);
}

// Makes the operator call `line` for each line of the result. Sets input_increment to the number of
// pointers between windows, and output_increment to the number of elements between result pixels.
template <class Context>
void use_lines(xnn_operator& op, Context& context,
               void (*line)(const Context*, size_t image, size_t y)) {
  context.input_increment = table_step(op);
  context.output_increment = op.output_pixel_stride;
  compute_parameters& compute = op.compute[0];
  compute.type = xnn_parallelization_type_2d;
  compute.task_2d = reinterpret_cast<pthreadpool_task_2d_t>(line);
}

// Returns the windows of one line of the result. `table` holds pointers to the pixels of the
// windows, and `offset` is added to each pointer, in bytes. `bounds` holds the minimum and the
// maximum of the results.
template <class T, class Context, class Bounds>
simd::PixelWindows<T> windows_of_line(const Context& context, size_t image, size_t y,
                                      const T* const* table, size_t offset, const Bounds& bounds) {
  return {.in = table,
          .step = static_cast<int64_t>(context.input_increment),
          .taps = static_cast<int64_t>(context.pooling_size),
          .offset = context.input_offset + image * context.input_batch_stride + offset,
          .padding = nullptr,
          .out = at_byte(static_cast<T*>(context.output),
                         image * context.output_batch_stride + y * context.output_height_stride),
          .out_step = static_cast<int64_t>(context.output_increment),
          .channels = static_cast<int64_t>(context.channels),
          .count = static_cast<int64_t>(context.output_width),
          .min = static_cast<T>(bounds.min),
          .max = static_cast<T>(bounds.max)};
}

template <class T>
void max_line(const max_pooling_context* context, size_t image, size_t y) {
  const auto& bounds = [context]() -> const auto& {
    if constexpr (std::is_same_v<T, float>)
      return context->params.f32.scalar;
    else
      return context->params.s8.scalar;
  }
  ();
  const auto* const table = reinterpret_cast<const T* const*>(
      at_byte(context->indirect_input, y * context->indirect_input_height_stride));
  simd::largest_pixels(windows_of_line<T>(*context, image, y, table, 0, bounds));
}

template <class T>
void use_max_pooling(xnn_operator& op, const std::byte*) {
  use_lines(op, op.context.max_pooling, &max_line<T>);
}

#ifndef VITRINE_XNNPACK_UPSTREAM  // list.inc gives the reason

template <bool kIsPadded>
bool is_average_pooling(const xnn_operator& op) {
  return op.type == xnn_operator_type_average_pooling_nhwc_f32 && has_our_size<float>(op) &&
         op.ukernel.type == (kIsPadded ? xnn_microkernel_type_pixelwise_average_pooling
                                       : xnn_microkernel_type_average_pooling);
}

// Finds the pointers for line `y` of the result in XNNPACK's table. A line whose windows extend
// past the upper or lower edge of the image has pointers of its own. All other lines share
// pointers, to which `offset` bytes are added.
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

// Returns XNNPACK's context for average pooling. Operators with padding have another type of
// context, because averages exclude the padding.
template <bool kIsPadded>
auto& average_context_of(xnn_operator& op) {
  if constexpr (kIsPadded) {
    return op.context.pixelwise_average_pooling;
  } else {
    return op.context.average_pooling;
  }
}

template <bool kIsPadded, class Context>
void average_line(const Context* context, size_t image, size_t y) {
  const TableLine line(*context, y);
  const auto& bounds = context->params.f32.scalar;
  simd::PixelWindows<float> windows =
      windows_of_line<float>(*context, image, y, line.first, line.offset, bounds);
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
  auto& context = average_context_of<kIsPadded>(op);
  use_lines(op, context, &average_line<kIsPadded, std::remove_reference_t<decltype(context)>>);
}

#endif

}  // namespace

const Replacement kMaxPooling = {.name = "Vitrine Max Pooling (NHWC, F32)",
                                 .fits = &is_max_pooling<float>,
                                 .install = &use_max_pooling<float>,
                                 .is_faster = &is_faster_pooling<float, 2>};
const Replacement kInt8MaxPooling = {.name = "Vitrine Max Pooling (NHWC, S8)",
                                     .fits = &is_max_pooling<int8_t>,
                                     .install = &use_max_pooling<int8_t>,
                                     .is_faster = &is_faster_pooling<int8_t, 2>};
#ifndef VITRINE_XNNPACK_UPSTREAM
const Replacement kAveragePooling = {.name = "Vitrine Average Pooling (NHWC, F32)",
                                     .fits = &is_average_pooling<false>,
                                     .install = &use_average_pooling<false>,
                                     .is_faster = &is_faster_pooling<float, 1>};
const Replacement kPaddedAveragePooling = {.name = "Vitrine Average Pooling (NHWC, F32)",
                                           .fits = &is_average_pooling<true>,
                                           .install = &use_average_pooling<true>,
                                           .is_faster = &is_faster_pooling<float, 1>};
#endif

}  // namespace vitrine::xnnpack::own_kernels
