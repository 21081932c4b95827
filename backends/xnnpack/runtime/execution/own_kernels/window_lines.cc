// Runs f32 convolutions with few input channels. XNNPACK's kernels loop over the input channels of
// each window element. This kernel runs one loop per window line, because the pixels of a line are
// contiguous. An image with only one column is treated as one line.
#include <algorithm>
#include <cstring>

#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "backends/xnnpack/runtime/reader/node_table.h"
#include "kernels/optimized/simd/gemm.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Tasks copy windows that extend past the image. The copies use up to 32 KiB of stack.
constexpr size_t kMaxWindowFloats = 1024;
constexpr size_t kMaxLines = 64;

struct WindowLines {
  size_t height, width;
  size_t in_channels, out_channels;

  size_t depth() const { return height * width * in_channels; }
  size_t vectors() const {
    const auto lanes = static_cast<size_t>(simd::gemm_shape().lanes);
    return (out_channels + lanes - 1) / lanes;
  }
  size_t panels() const { return (vectors() + simd::kGemmMaxVectors - 1) / simd::kGemmMaxVectors; }
  size_t panel_start(size_t panel) const {
    return vectors() * panel / panels() * static_cast<size_t>(simd::gemm_shape().lanes);
  }
  size_t weight_floats() const { return panel_start(panels()) * (1 + depth()); }

  bool fit() const {
    return width * height > 1 && height <= kMaxLines && depth() <= kMaxWindowFloats;
  }
  // Returns true if this kernel is probably faster than XNNPACK's kernel. The window must be large
  // and have only one line or one column. With several short lines, this kernel spends too much
  // time on pointers.
  bool are_faster() const {
    constexpr size_t kMinDepth = 128;
    return has_wide_vectors() && out_channels > 4 && (height == 1 || width == 1) &&
           depth() >= kMinDepth;
  }
};

WindowLines lines_of(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  return {convolution.kernel_height, convolution.kernel_width, convolution.group_input_channels,
          convolution.group_output_channels};
}

bool is_winograd_window(size_t height, size_t width, size_t stride_height, size_t stride_width) {
  return height == 3 && width == 3 && stride_height == 1 && stride_width == 1;
}

bool has_window_lines(const xnn_operator& op) {
  if (op.type != xnn_operator_type_convolution_nhwc_f32 ||
      op.ukernel.type != xnn_microkernel_type_igemm ||
      (op.flags & XNN_FLAG_DEPTHWISE_CONVOLUTION) != 0) {
    return false;
  }
  const auto& convolution = convolution_of(op);
  return convolution.groups == 1 &&
         (convolution.dilation_width == 1 || convolution.kernel_width == 1) &&
         !is_winograd_window(convolution.kernel_height, convolution.kernel_width,
                             convolution.stride_height, convolution.stride_width) &&
         op.input_pixel_stride == convolution.group_input_channels && lines_of(op).fit();
}

bool is_faster_by_lines(const xnn_operator& op) { return lines_of(op).are_faster(); }

size_t window_lines_bytes(const xnn_operator& op) {
  return has_window_lines(op) ? lines_of(op).weight_floats() * sizeof(float) : 0;
}

bool owns_window_lines(const Graph& graph, const Node& node) {
  if (!is_kind(node, "Conv2d") || node.groups != 1) return false;
  const Window& w = node.window;
  const WindowLines lines{w.kernel_height, w.kernel_width, node.group_input_channels,
                          node.group_output_channels};
  return graph.values[node.inputs[0]].datatype->xnn == xnn_datatype_fp32 &&
         graph.values[node.inputs[1]].datatype->xnn == xnn_datatype_fp32 &&
         (w.dilation_width == 1 || w.kernel_width == 1) &&
         !is_winograd_window(w.kernel_height, w.kernel_width, w.stride_height, w.stride_width) &&
         lines.fit() && lines.are_faster();
}

void copy_window_lines(xnn_operator& op, const RawWeights& weights, std::byte* bytes) {
  const WindowLines lines = lines_of(op);
  const size_t depth = lines.depth();
  auto* to = reinterpret_cast<float*>(bytes);
  for (size_t o = 0; o < lines.out_channels; ++o) to[o] = weights.bias(o);
  to += lines.panel_start(lines.panels());
  for (size_t panel = 0; panel < lines.panels(); ++panel) {
    const size_t first = lines.panel_start(panel);
    const size_t width = lines.panel_start(panel + 1) - first;
    for (size_t o = 0; o < std::min(width, lines.out_channels - first); ++o) {
      for (size_t k = 0; k < depth; ++k)
        to[k * width + o] = weights.weight((first + o) * depth + k);
    }
    to += depth * width;
  }
}

// Sizes of the window and the images. A single column of an image is treated as a line.
struct Geometry {
  explicit Geometry(const xnn_operator& op) {
    const auto& c = convolution_of(op);
    channels = c.group_input_channels;
    in = static_cast<const float*>(c.input);
    if (c.kernel_width == 1 && c.input_width == 1 && c.output_width == 1 && c.padding_left == 0 &&
        c.dilation_height == 1) {
      taps = c.kernel_height;
      width = c.input_height;
      out_width = c.output_height;
      stride_x = c.stride_height;
      left = c.padding_top;
    } else {
      lines = c.kernel_height;
      taps = c.kernel_width;
      height = c.input_height;
      width = c.input_width;
      out_width = c.output_width;
      stride_y = c.stride_height;
      stride_x = c.stride_width;
      step_y = c.dilation_height;
      top = c.padding_top;
      left = c.padding_left;
    }
  }

  size_t lines = 1, taps;
  size_t height = 1, width, channels;  // sizes of an image
  size_t out_width;
  size_t stride_y = 1, stride_x;
  size_t step_y = 1;  // distance between lines of the window
  size_t top = 0, left;
  const float* in;
};

// The pointers to the window lines of up to kGemmMaxRows output pixels. Lines that are partly
// outside the image are copied, with zeros for the padding.
class LineTable {
 public:
  LineTable(const Geometry& geometry, size_t image)
      : g_(geometry),
        in_(g_.in + image * g_.height * g_.width * g_.channels),
        line_floats_(g_.taps * g_.channels) {
    std::fill_n(zeros_, line_floats_, 0.0F);
  }

  const float* const* pointers() const { return pointers_; }

  // Sets a row of the table to the lines of an output pixel. Call with rows 0, 1, 2, ...
  void set(size_t row, size_t pixel) {
    if (row == 0) copied_ = copies_;
    const auto height = static_cast<ptrdiff_t>(g_.height);
    const auto width = static_cast<ptrdiff_t>(g_.width);
    const auto taps = static_cast<ptrdiff_t>(g_.taps);
    const auto top =
        static_cast<ptrdiff_t>(pixel / g_.out_width * g_.stride_y) - static_cast<ptrdiff_t>(g_.top);
    const auto left = static_cast<ptrdiff_t>(pixel % g_.out_width * g_.stride_x) -
                      static_cast<ptrdiff_t>(g_.left);
    const ptrdiff_t begin = std::clamp<ptrdiff_t>(-left, 0, taps);  // first tap inside the image
    const ptrdiff_t end = std::max(begin, std::min(width - left, taps));
    for (size_t line = 0; line < g_.lines; ++line) {
      const ptrdiff_t y = top + static_cast<ptrdiff_t>(line * g_.step_y);
      const float*& to = pointers_[line * simd::kGemmMaxRows + row];
      if (y < 0 || y >= height || begin == end) {
        to = zeros_;
        continue;
      }
      const float* const first =
          in_ + (y * width + left + begin) * static_cast<ptrdiff_t>(g_.channels);
      to = end - begin == taps ? first : copy(first, begin, end);
    }
  }

 private:
  const float* copy(const float* from, ptrdiff_t begin, ptrdiff_t end) {
    const size_t before = static_cast<size_t>(begin) * g_.channels;
    const size_t inside = static_cast<size_t>(end - begin) * g_.channels;
    float* const to = copied_;
    std::fill_n(to, before, 0.0F);
    std::copy_n(from, inside, to + before);
    std::fill(to + before + inside, to + line_floats_, 0.0F);
    copied_ += line_floats_;
    return to;
  }

  const Geometry& g_;
  const float* in_;
  size_t line_floats_;
  float* copied_ = copies_;
  const float* pointers_[kMaxLines * simd::kGemmMaxRows];
  float zeros_[kMaxWindowFloats];
  float copies_[kMaxWindowFloats * simd::kGemmMaxRows];
};

// A task that XNNPACK calls with its own context. `packed_w` points to Vitrine's weights, and
// `zero` points to the operator.
void convolve_lines(const igemm_context* context, size_t image, size_t first, size_t count) {
  const xnn_operator& op = *static_cast<const xnn_operator*>(context->zero);
  const auto& convolution = convolution_of(op);
  const WindowLines lines = lines_of(op);
  const auto* const bias = static_cast<const float*>(context->packed_w);
  const float* const weights = bias + lines.panel_start(lines.panels());
  float* const out = static_cast<float*>(convolution.output) + image * convolution.output_height *
                                                                   convolution.output_width *
                                                                   op.output_pixel_stride;
  const auto rows = static_cast<size_t>(simd::gemm_shape().rows);
  const Geometry geometry(op);
  LineTable table(geometry, image);
  simd::TapTile tile{};
  tile.taps = static_cast<int64_t>(geometry.lines);
  tile.depth = static_cast<int64_t>(geometry.taps * geometry.channels);
  tile.table = table.pointers();
  tile.out_stride = static_cast<int64_t>(op.output_pixel_stride);
  tile.min = context->params.f32.scalar.min;
  tile.max = context->params.f32.scalar.max;
  for (size_t pixel = first; pixel < first + count; pixel += rows) {
    const size_t last = std::min(rows, first + count - pixel) - 1;
    for (size_t row = 0; row < rows; ++row) table.set(row, pixel + std::min(row, last));
    tile.rows = static_cast<int64_t>(last + 1);
    for (size_t panel = 0; panel < lines.panels(); ++panel) {
      const size_t channel = lines.panel_start(panel);
      tile.weights = weights + channel * lines.depth();
      tile.bias = bias + channel;
      tile.out = out + pixel * op.output_pixel_stride + channel;
      tile.columns = static_cast<int64_t>(
          std::min(lines.panel_start(panel + 1), lines.out_channels) - channel);
      simd::multiply_taps(tile);
    }
  }
}

void use_window_lines(xnn_operator& op, const std::byte* weights) {
  const auto& convolution = convolution_of(op);
  const WindowLines lines = lines_of(op);
  igemm_context& context = igemm_context_of(op);
  context.packed_w = weights;
  context.zero = &op;
  const auto rows = static_cast<size_t>(simd::gemm_shape().rows);
  const size_t products = rows * lines.depth() * lines.out_channels;
  compute_parameters& compute = op.compute[0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(&convolve_lines);
  compute.context_offset = 0;
  compute.range[0] = op.batch_size;
  compute.range[1] = convolution.output_height * convolution.output_width;
  compute.tile[0] = rows * std::max<size_t>(1, kTaskProducts / products);
  op.compute[1].type = xnn_parallelization_type_invalid;  // omits XNNPACK's second step, the sums
}

}  // namespace

const Replacement kWindowLines = {.name = "Vitrine Convolution of Window Lines (NHWC, F32)",
                                  .fits = &has_window_lines,
                                  .install = &use_window_lines,
                                  .weight_bytes = &window_lines_bytes,
                                  .copy_weights = &copy_window_lines,
                                  .owns_weights = &owns_window_lines,
                                  .is_faster = &is_faster_by_lines};

}  // namespace vitrine::xnnpack::own_kernels
