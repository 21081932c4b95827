// Shapes of nodes that slide a window: convolutions, poolings and resizing.
#include <algorithm>
#include <utility>

#include "backends/xnnpack/runtime/reader/invalid_payload.h"
#include "backends/xnnpack/runtime/reader/shape_checks.h"
#include "backends/xnnpack/runtime/reader/shape_inference.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/sliding_window.h"

namespace vitrine::xnnpack {
namespace {

Error check_filter(const Shape& filter, const Shape& expected) {
  if (filter == expected) return Error();
  if (filter.rank != expected.rank)
    return invalid_payload("its filter has rank %zu, not %zu", filter.rank, expected.rank);
  return invalid_payload("its filter is [%zu, %zu, %zu, %zu], not [%zu, %zu, %zu, %zu]", filter[0],
                         filter[1], filter[2], filter[3], expected[0], expected[1], expected[2],
                         expected[3]);
}

// Sets `steps` to the number of window positions along one axis.
Error window_steps(const char* axis, size_t extent, const SlidingWindow& window, size_t* steps) {
  int64_t padded = 0;
  if (add_overflows(extent, window.padding, &padded))
    return invalid_payload("its input is too large");
  const std::optional<int64_t> count = window_count(window, static_cast<int64_t>(extent));
  if (!count) return invalid_payload("its window is too large");
  if (*count < 1) {
    return invalid_payload("its window covers %lld elements, but the padded input's %s is %lld",
                           static_cast<long long>(*window_reach(window)), axis,
                           static_cast<long long>(padded));
  }
  *steps = static_cast<size_t>(*count);
  return Error();
}

SlidingWindow along_height(const Window& w) {
  return {w.kernel_height, w.stride_height, w.dilation_height,
          int64_t{w.padding_top} + w.padding_bottom};
}
SlidingWindow along_width(const Window& w) {
  return {w.kernel_width, w.stride_width, w.dilation_width,
          int64_t{w.padding_left} + w.padding_right};
}

// The input and the output are in NHWC order.
Error slide_window(const Node& node, std::span<Shape> shapes, size_t channels) {
  const Window& w = node.window;
  const Shape& in = input(node, shapes, 0);
  Shape out{4, {in[0], 0, 0, channels}};
  VITRINE_RETURN_IF_ERROR(window_steps("height", in[1], along_height(w), &out[1]));
  VITRINE_RETURN_IF_ERROR(window_steps("width", in[2], along_width(w), &out[2]));
  set_outputs(node, shapes, out);
  return Error();
}

// Rejects dilated max poolings for which XNNPACK 4ea82e5 would read past the input. XNNPACK
// replaces each window element in the padding with the first element of the window at or after
// index 0, computed for a padding of only `padding % dilation`. That element may be past the end of
// the input.
Error check_dilated_pooling(const char* axis, size_t extent, size_t steps, uint32_t padding,
                            uint32_t stride, uint32_t dilation) {
  const uint64_t shift = padding % dilation;
  const auto replacement = [&](uint64_t step) {
    const uint64_t begin = step * stride;
    return begin < shift ? begin + dilation - shift : begin - shift;
  };
  // The index of the replacement increases with the step, but may drop at the first step with
  // `begin >= shift`. The maximum index is at the step before that step, or at the last step.
  const uint64_t last = steps - 1;
  const uint64_t last_before = shift == 0 ? 0 : std::min<uint64_t>(last, (shift - 1) / stride);
  const uint64_t furthest = std::max(replacement(last), replacement(last_before));
  if (furthest < extent) return Error();
  return invalid_payload("its dilated window would read index %llu of an input with %s %zu",
                         static_cast<unsigned long long>(furthest), axis, extent);
}

Error check_channels(const Shape& in, size_t channels) {
  if (in[3] != channels) {
    return invalid_payload("its input has %zu channels, not %zu", in[3], channels);
  }
  return Error();
}

struct Channels {
  size_t in;
  size_t out;
};

Error count_channels(const Node& node, Channels* channels) {
  if (mul_overflows(size_t{node.group_input_channels}, size_t{node.groups}, &channels->in) ||
      mul_overflows(size_t{node.group_output_channels}, size_t{node.groups}, &channels->out)) {
    return invalid_payload(
        "too many channels: %u groups, each with %u input and %u output channels", node.groups,
        node.group_input_channels, node.group_output_channels);
  }
  return Error();
}

// Common checks of convolutions. Depthwise filters are [1, height, width, channels].
Error check_convolution(const Node& node, std::span<Shape> shapes, bool depthwise,
                        Channels* channels) {
  VITRINE_RETURN_IF_ERROR(check_rank(input(node, shapes, 0), 4));
  VITRINE_RETURN_IF_ERROR(count_channels(node, channels));
  VITRINE_RETURN_IF_ERROR(check_channels(input(node, shapes, 0), channels->in));
  const Window& w = node.window;
  const Shape filter =
      depthwise
          ? Shape{4, {1, w.kernel_height, w.kernel_width, channels->out}}
          : Shape{4, {channels->out, w.kernel_height, w.kernel_width, node.group_input_channels}};
  VITRINE_RETURN_IF_ERROR(check_filter(input(node, shapes, 1), filter));
  return check_bias(node, shapes, channels->out);
}

// Sets `result` to the output size of a transposed convolution along one axis.
Error unslide(const char* axis, size_t extent, const SlidingWindow& window, uint32_t adjustment,
              size_t* result) {
  if (adjustment >= window.stride) {
    return invalid_payload("adjustment_%s %u is not below the stride %lld", axis, adjustment,
                           static_cast<long long>(window.stride));
  }
  if (extent == 0) return invalid_payload("its input's %s is 0", axis);
  const std::optional<int64_t> size =
      std::in_range<int64_t>(extent)
          ? transposed_size(window, static_cast<int64_t>(extent), adjustment)
          : std::nullopt;
  if (!size) return invalid_payload("its output is too large");
  if (*size < 1) return invalid_payload("its padding is so large that its output has no %s", axis);
  *result = static_cast<size_t>(*size);
  return Error();
}

}  // namespace

Error shape_convolution(const Node& node, std::span<Shape> shapes, size_t) {
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, false, &channels));
  return slide_window(node, shapes, channels.out);
}

Error shape_depthwise(const Node& node, std::span<Shape> shapes, size_t) {
  if (node.group_input_channels != 1) {
    return invalid_payload("group_input_channels is %u, not 1", node.group_input_channels);
  }
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, true, &channels));
  return slide_window(node, shapes, channels.out);
}

Error shape_transposed_convolution(const Node& node, std::span<Shape> shapes, size_t) {
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, false, &channels));
  const Window& w = node.window;
  const Shape& in = input(node, shapes, 0);
  Shape out{4, {in[0], 0, 0, channels.out}};
  VITRINE_RETURN_IF_ERROR(
      unslide("height", in[1], along_height(w), node.adjustment_height, &out[1]));
  VITRINE_RETURN_IF_ERROR(unslide("width", in[2], along_width(w), node.adjustment_width, &out[2]));
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_pooling(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, 4));
  return slide_window(node, shapes, in[3]);
}

Error shape_max_pooling(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  VITRINE_RETURN_IF_ERROR(shape_pooling(node, shapes, max_bytes));
  const Window& w = node.window;
  if (w.dilation_height == 1 && w.dilation_width == 1) return Error();
  const Shape& in = input(node, shapes, 0);
  const Shape& out = shapes[node.outputs[0]];
  VITRINE_RETURN_IF_ERROR(check_dilated_pooling("height", in[1], out[1], w.padding_top,
                                                w.stride_height, w.dilation_height));
  return check_dilated_pooling("width", in[2], out[2], w.padding_left, w.stride_width,
                               w.dilation_width);
}

// Computes the shape of the mean of [..., height, width, channels] over height and width.
Error shape_global_pooling(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  if (out.rank < 3) return invalid_payload("its input has rank %zu, expected at least 3", out.rank);
  if ((node.flags & XNN_FLAG_KEEP_DIMS) != 0) {
    out[out.rank - 3] = out[out.rank - 2] = 1;
  } else {
    out[out.rank - 3] = out.back(1);
    out.rank -= 2;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_resize(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(out, 4));
  out[1] = node.new_height;
  out[2] = node.new_width;
  set_outputs(node, shapes, out);
  return Error();
}

}  // namespace vitrine::xnnpack
