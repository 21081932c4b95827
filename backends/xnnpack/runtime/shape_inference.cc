#include "backends/xnnpack/runtime/shape_inference.h"

#include <algorithm>
#include <utility>

#include "backends/xnnpack/runtime/node_table.h"
#include "backends/xnnpack/runtime/wrong.h"
#include "runtime/core/checked_math.h"
#include "runtime/core/sliding_window.h"

namespace vitrine::xnnpack {
namespace {

const Shape& input(const Node& node, std::span<Shape> shapes, size_t i) {
  return shapes[node.inputs[i]];
}

void set_outputs(const Node& node, std::span<Shape> shapes, const Shape& shape) {
  for (const uint32_t value : node.output_values()) shapes[value] = shape;
}

Error check_rank(const Shape& shape, size_t rank) {
  if (shape.rank != rank) return wrong("its input has rank %zu, not %zu", shape.rank, rank);
  return Error();
}

Error check_bias(const Node& node, std::span<Shape> shapes, size_t channels) {
  if (node.input_count < 3) return Error();
  const Shape& bias = input(node, shapes, 2);
  size_t count = 1;
  for (const size_t dim : bias.used()) {
    if (mul_overflows(count, dim, &count)) return wrong("its bias is too large");
  }
  if (count != channels) return wrong("%zu biases for %zu output channels", count, channels);
  return Error();
}

Error check_filter(const Shape& filter, const Shape& expected) {
  if (filter == expected) return Error();
  if (filter.rank != expected.rank) return wrong("its filter has rank %zu", filter.rank);
  return wrong("its filter is [%zu, %zu, %zu, %zu], not [%zu, %zu, %zu, %zu]", filter[0], filter[1],
               filter[2], filter[3], expected[0], expected[1], expected[2], expected[3]);
}

// How often the window fits along one axis.
Error window_steps(const char* axis, size_t extent, const SlidingWindow& window, size_t* steps) {
  int64_t padded = 0;
  if (add_overflows(extent, window.padding, &padded)) return wrong("its input is too large");
  const std::optional<int64_t> count = window_count(window, static_cast<int64_t>(extent));
  if (!count) return wrong("its window is too large");
  if (*count < 1) {
    return wrong("its window covers %lld, but the padded input's %s is %lld",
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

// XNNPACK keeps a pointer for each element of the window at each output pixel.
Error check_window_table(const Window& window, size_t height, size_t width, size_t max_bytes) {
  size_t bytes = sizeof(void*);
  if (mul_overflows(bytes, window.kernel_height, &bytes) ||
      mul_overflows(bytes, window.kernel_width, &bytes) || mul_overflows(bytes, height, &bytes) ||
      mul_overflows(bytes, width, &bytes) || bytes > max_bytes) {
    return wrong("a %ux%u window over %zux%zu outputs needs more than the allowed %zu bytes",
                 window.kernel_height, window.kernel_width, height, width, max_bytes);
  }
  return Error();
}

// NHWC in, NHWC out.
Error slide_window(const Node& node, std::span<Shape> shapes, size_t channels, size_t max_bytes) {
  const Window& w = node.window;
  const Shape& in = input(node, shapes, 0);
  Shape out{4, {in[0], 0, 0, channels}};
  VITRINE_RETURN_IF_ERROR(window_steps("height", in[1], along_height(w), &out[1]));
  VITRINE_RETURN_IF_ERROR(window_steps("width", in[2], along_width(w), &out[2]));
  VITRINE_RETURN_IF_ERROR(check_window_table(w, out[1], out[2], max_bytes));
  set_outputs(node, shapes, out);
  return Error();
}

// If either axis is dilated, XNNPACK 4ea82e5 reads for a tap in the padding what it takes for a tap
// of the same window that lies in the input: the first, were the padding less than the dilation.
// That one may lie behind the input.
Error check_dilated_pooling(const char* axis, size_t extent, size_t steps, uint32_t padding,
                            uint32_t stride, uint32_t dilation) {
  const uint64_t shift = padding % dilation;
  const auto stand_in = [&](uint64_t step) {
    const uint64_t begin = step * stride;
    return begin < shift ? begin + dilation - shift : begin - shift;
  };
  // It grows from step to step, but for the one at which `begin` reaches `shift`.
  const uint64_t last = steps - 1;
  const uint64_t last_before = shift == 0 ? 0 : std::min<uint64_t>(last, (shift - 1) / stride);
  const uint64_t furthest = std::max(stand_in(last), stand_in(last_before));
  if (furthest < extent) return Error();
  return wrong("its dilated window would read element %llu of a %s of %zu",
               static_cast<unsigned long long>(furthest), axis, extent);
}

Error check_channels(const Shape& in, size_t channels) {
  if (in[3] != channels) {
    return wrong("its input has %zu channels, not the %zu that it is made for", in[3], channels);
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
    return wrong("%u groups of %u and %u channels are too many", node.groups,
                 node.group_input_channels, node.group_output_channels);
  }
  return Error();
}

// What all three convolutions share. Depthwise filters have their channels last.
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

// Along one axis of a transposed convolution.
Error unslide(const char* axis, size_t extent, const SlidingWindow& window, uint32_t adjustment,
              size_t* result) {
  if (adjustment >= window.stride) {
    return wrong("adjustment_%s %u is not below the stride %lld", axis, adjustment,
                 static_cast<long long>(window.stride));
  }
  if (extent == 0) return wrong("its input has no %s", axis);
  const std::optional<int64_t> size =
      std::in_range<int64_t>(extent)
          ? transposed_size(window, static_cast<int64_t>(extent), adjustment)
          : std::nullopt;
  if (!size) return wrong("its output is too large");
  if (*size < 1) return wrong("its padding leaves no %s", axis);
  *result = static_cast<size_t>(*size);
  return Error();
}

}  // namespace

Error shape_of_first(const Node& node, std::span<Shape> shapes, size_t) {
  set_outputs(node, shapes, input(node, shapes, 0));
  return Error();
}

Error shape_broadcast(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& a = input(node, shapes, 0);
  const Shape& b = input(node, shapes, 1);
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (size_t n = 1; n <= out.rank; ++n) {
    const size_t x = n <= a.rank ? a.back(n) : 1;
    const size_t y = n <= b.rank ? b.back(n) : 1;
    if (x != y && x != 1 && y != 1) {
      return wrong("sizes %zu and %zu of the inputs do not broadcast", x, y);
    }
    out[out.rank - n] = x == 1 ? y : x;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_convolution(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, false, &channels));
  return slide_window(node, shapes, channels.out, max_bytes);
}

Error shape_depthwise(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  if (node.group_input_channels != 1) {
    return wrong("group_input_channels is %u, not 1", node.group_input_channels);
  }
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, true, &channels));
  return slide_window(node, shapes, channels.out, max_bytes);
}

Error shape_transposed_convolution(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  Channels channels;
  VITRINE_RETURN_IF_ERROR(check_convolution(node, shapes, false, &channels));
  const Window& w = node.window;
  const Shape& in = input(node, shapes, 0);
  Shape out{4, {in[0], 0, 0, channels.out}};
  VITRINE_RETURN_IF_ERROR(
      unslide("height", in[1], along_height(w), node.adjustment_height, &out[1]));
  VITRINE_RETURN_IF_ERROR(unslide("width", in[2], along_width(w), node.adjustment_width, &out[2]));
  VITRINE_RETURN_IF_ERROR(check_window_table(w, out[1], out[2], max_bytes));
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_pooling(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  const Shape& in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, 4));
  return slide_window(node, shapes, in[3], max_bytes);
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

// The mean over height and width of [..., height, width, channels].
Error shape_global_pooling(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  if (out.rank < 3) return wrong("its input has rank %zu, not at least 3", out.rank);
  if ((node.flags & XNN_FLAG_KEEP_DIMS) != 0) {
    out[out.rank - 3] = out[out.rank - 2] = 1;
  } else {
    out[out.rank - 3] = out.back(1);
    out.rank -= 2;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_fully_connected(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  const Shape& filter = input(node, shapes, 1);
  if (filter.rank != 2) return wrong("its filter has rank %zu, not 2", filter.rank);
  const bool transposed = (node.flags & XNN_FLAG_TRANSPOSE_WEIGHTS) != 0;
  const size_t in_channels = filter[transposed ? 0 : 1];
  const size_t out_channels = filter[transposed ? 1 : 0];
  if (out.back(1) != in_channels) {
    return wrong("its input has %zu channels, its filter %zu", out.back(1), in_channels);
  }
  VITRINE_RETURN_IF_ERROR(check_bias(node, shapes, out_channels));
  out[out.rank - 1] = out_channels;
  set_outputs(node, shapes, out);
  return Error();
}

// [..., m, k] by [..., k, n], broadcast over the leading dimensions.
Error shape_matrix_multiply(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& a = input(node, shapes, 0);
  const Shape& b = input(node, shapes, 1);
  if (a.rank < 2 || b.rank < 2) return wrong("its inputs have ranks %zu and %zu", a.rank, b.rank);
  if (a.back(1) != b.back(2)) {
    return wrong("%zu columns of the first input, %zu rows of the second", a.back(1), b.back(2));
  }
  Shape out;
  out.rank = std::max(a.rank, b.rank);
  for (size_t n = 3; n <= out.rank; ++n) {
    const size_t x = n <= a.rank ? a.back(n) : 1;
    const size_t y = n <= b.rank ? b.back(n) : 1;
    if (x != y && x != 1 && y != 1) return wrong("batch sizes %zu and %zu do not broadcast", x, y);
    out[out.rank - n] = x == 1 ? y : x;
  }
  out[out.rank - 2] = a.back(2);
  out[out.rank - 1] = b.back(1);
  set_outputs(node, shapes, out);
  return Error();
}

// Query [..., heads, T, C], key [..., heads, U, C] and value [..., heads, U, D], the last two
// perhaps without heads; scale [C], mask [T, U].
Error shape_attention(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  const Shape& query = input(node, shapes, 0);
  const Shape& key = input(node, shapes, 1);
  const Shape& value = input(node, shapes, 2);
  if (query.rank < 3) return wrong("its query has rank %zu", query.rank);
  if (key.rank != value.rank || (key.rank != query.rank && key.rank + 1 != query.rank)) {
    return wrong("its query, key and value have ranks %zu, %zu and %zu", query.rank, key.rank,
                 value.rank);
  }
  const size_t leading = key.rank - 2;
  for (size_t i = 0; i < leading; ++i) {
    if (key[i] != query[i] || value[i] != query[i]) {
      return wrong("its query, key and value differ in dimension %zu", i);
    }
  }
  const Shape& scale = input(node, shapes, 3);
  const Shape& mask = input(node, shapes, 4);
  if (key.back(1) != query.back(1) || scale.rank != 1 || scale[0] != query.back(1)) {
    return wrong("its query, key and scale differ in channels");
  }
  if (key.back(2) != value.back(2)) return wrong("its key and value differ in tokens");
  if (mask.rank != 2 || mask[0] != query.back(2) || mask[1] != key.back(2)) {
    return wrong("its mask is not [%zu, %zu]", query.back(2), key.back(2));
  }
  // XNNPACK packs keys and values of each head, rounded up to tiles.
  constexpr size_t kTile = 64;
  size_t bytes = sizeof(float);
  for (size_t i = 0; i + 2 < query.rank; ++i) {
    if (mul_overflows(bytes, query[i], &bytes)) bytes = SIZE_MAX;
  }
  const size_t tokens = std::max(key.back(2), query.back(2));
  const size_t channels = std::max(key.back(1), value.back(1));
  if (std::max(tokens, channels) > max_bytes || mul_overflows(bytes, tokens + kTile, &bytes) ||
      mul_overflows(bytes, channels + kTile, &bytes) || bytes > max_bytes) {
    return wrong("its packed keys need more than the allowed %zu bytes", max_bytes);
  }
  Shape out = query;
  out[out.rank - 1] = value.back(1);
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_concatenate(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  if (node.axis >= out.rank) return wrong("axis is %u, but the rank %zu", node.axis, out.rank);
  for (size_t i = 1; i < node.input_count; ++i) {
    Shape other = input(node, shapes, i);
    if (other.rank != out.rank)
      return wrong("its inputs have ranks %zu and %zu", out.rank, other.rank);
    if (add_overflows(out[node.axis], other[node.axis], &out[node.axis])) {
      return wrong("its output is too large");
    }
    other[node.axis] = out[node.axis];
    if (!(other == out)) return wrong("its inputs differ in more than the axis %u", node.axis);
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_transpose(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, node.list.count));
  Shape out = in;
  for (size_t i = 0; i < in.rank; ++i) out[i] = in[node.list[i]];
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_reshape(const Node& node, std::span<Shape> shapes, size_t) {
  size_t remaining = 1;
  for (const size_t dim : input(node, shapes, 0).used()) {
    if (mul_overflows(remaining, dim, &remaining)) return wrong("its input is too large");
  }
  const size_t elements = remaining;
  Shape out{node.list.count, node.list.items};
  size_t* free_dim = nullptr;
  for (size_t i = 0; i < out.rank; ++i) {
    if (out[i] == 0) {
      free_dim = &out[i];
      continue;
    }
    if (remaining % out[i] != 0) return wrong("%zu elements do not fit its new_shape", elements);
    remaining /= out[i];
  }
  if (free_dim != nullptr) {
    *free_dim = remaining;
  } else if (remaining != 1) {
    return wrong("%zu elements do not fit its new_shape", elements);
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_slice(const Node& node, std::span<Shape> shapes, size_t) {
  const Shape& in = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(in, node.list.count));
  Shape out = in;
  for (size_t i = 0; i < in.rank; ++i) {
    const size_t offset = node.list[i];
    const size_t size = node.second_list[i];
    if (size == 0 && offset == 0) continue;  // all of it
    if (size == 0 || !range_fits(offset, size, in[i])) {
      return wrong("offset %zu and size %zu are not inside dimension %zu of size %zu", offset, size,
                   i, in[i]);
    }
    out[i] = size;
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_constant_pad(const Node& node, std::span<Shape> shapes, size_t) {
  Shape out = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(out, node.list.count));
  for (size_t i = 0; i < out.rank; ++i) {
    if (add_overflows(out[i], node.list[i], &out[i]) ||
        add_overflows(out[i], node.second_list[i], &out[i])) {
      return wrong("its output is too large");
    }
  }
  set_outputs(node, shapes, out);
  return Error();
}

Error shape_resize(const Node& node, std::span<Shape> shapes, size_t max_bytes) {
  Shape out = input(node, shapes, 0);
  VITRINE_RETURN_IF_ERROR(check_rank(out, 4));
  out[1] = node.new_height;
  out[2] = node.new_width;
  // Four pointers and two weights an output pixel.
  VITRINE_RETURN_IF_ERROR(
      check_window_table({.kernel_height = 2, .kernel_width = 2}, out[1], out[2], max_bytes));
  set_outputs(node, shapes, out);
  return Error();
}

Error infer_shapes(const Graph& graph, std::span<Shape> shapes, const Limits& limits) {
  const auto bytes_of = [&](uint32_t value) {
    return tensor_bytes(*graph.values[value].datatype, shapes[value]).value_or(SIZE_MAX);
  };
  const auto in_workspace = [&](uint32_t value) {
    return graph.values[value].external_id == kNone && !graph.values[value].is_constant();
  };
  size_t workspace = 0;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.live) continue;
    if (Error error = node.kind->infer_shape(node, shapes, limits.max_tensor_bytes); !error.ok()) {
      return std::move(error).in("xnodes[%u] (%s)", i, node.kind->name);
    }
    for (const uint32_t value : node.output_values()) {
      const size_t bytes = bytes_of(value);
      if (bytes > limits.max_tensor_bytes) {
        return Error::make(ErrorCode::kOutOfResources,
                           "xnodes[%u] (%s): its output exceeds the bound of %zu bytes a tensor", i,
                           node.kind->name, limits.max_tensor_bytes);
      }
      if (!in_workspace(value)) continue;
      if (add_overflows(workspace, bytes, &workspace) || workspace > limits.max_workspace_bytes) {
        return Error::make(ErrorCode::kOutOfResources,
                           "xnodes[%u] (%s): the tensors alive here exceed the bound of %zu bytes",
                           i, node.kind->name, limits.max_workspace_bytes);
      }
    }
    for (uint32_t k = 0; k < node.input_count; ++k) {
      const uint32_t value = node.inputs[k];
      const auto earlier = node.input_values().first(k);
      const bool again = std::ranges::find(earlier, value) != earlier.end();
      if (in_workspace(value) && graph.values[value].last_reader == i && !again) {
        workspace -= bytes_of(value);
      }
    }
  }
  return Error();
}

}  // namespace vitrine::xnnpack
