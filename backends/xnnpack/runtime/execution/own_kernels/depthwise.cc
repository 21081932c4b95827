// Runs f32 and f16 depthwise convolutions with windows of more than 25 elements. XNNPACK has only
// its grouped IGEMM for such windows.
#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "backends/xnnpack/runtime/execution/own_kernels/raw_weights.h"
#include "backends/xnnpack/runtime/execution/own_kernels/replacement.h"
#include "kernels/optimized/simd/depthwise.h"
#include "kernels/optimized/simd/elementwise.h"
#include "vitrine/half.h"

namespace vitrine::xnnpack::own_kernels {
namespace {

namespace simd = optimized::simd;

// Maximum number of taps. A task stores two pointers per tap on the stack.
constexpr size_t kMaxTaps = 1024;

size_t taps_of(const xnn_operator& op) {
  const auto& convolution = convolution_of(op);
  return static_cast<size_t>(convolution.kernel_height) * convolution.kernel_width;
}

template <class T>
bool is_depthwise(const xnn_operator& op) {
  if (op.type != (std::is_same_v<T, Half> ? xnn_operator_type_convolution_nhwc_f16
                                          : xnn_operator_type_convolution_nhwc_f32) ||
      op.ukernel.type != xnn_microkernel_type_igemm) {
    return false;
  }
  const auto& convolution = convolution_of(op);
  return convolution.groups > 1 && convolution.group_input_channels == 1 &&
         convolution.group_output_channels == 1 && taps_of(op) <= kMaxTaps;
}

template <class T>
size_t depthwise_weight_bytes(const xnn_operator& op) {
  return is_depthwise<T>(op) ? (1 + taps_of(op)) * convolution_of(op).groups * sizeof(float) : 0;
}

template <class T>
bool owns_depthwise_weights(const Graph& graph, const Node& node) {
  constexpr size_t kMaxXnnpackTaps = 25;
  const size_t taps = size_t{node.window.kernel_height} * node.window.kernel_width;
  const xnn_datatype datatype = graph.values[node.inputs[0]].datatype->xnn;
  return datatype == (std::is_same_v<T, Half> ? xnn_datatype_fp16 : xnn_datatype_fp32) &&
         node.groups > 1 && node.group_input_channels == 1 && node.group_output_channels == 1 &&
         taps > kMaxXnnpackTaps && taps <= kMaxTaps;
}

// Writes the biases and then the weights of each tap.
void copy_depthwise_weights(xnn_operator& op, const RawWeights& weights, std::byte* bytes) {
  auto* const to = reinterpret_cast<float*>(bytes);
  const size_t channels = convolution_of(op).groups;
  const size_t taps = taps_of(op);
  const bool taps_first = (op.flags & XNN_FLAG_DEPTHWISE_CONVOLUTION) != 0;
  for (size_t channel = 0; channel < channels; ++channel) to[channel] = weights.bias(channel);
  for (size_t tap = 0; tap < taps; ++tap) {
    for (size_t channel = 0; channel < channels; ++channel) {
      to[(1 + tap) * channels + channel] =
          weights.weight(taps_first ? tap * channels + channel : channel * taps + tap);
    }
  }
}

// The input pixels of one output pixel. XNNPACK stores the pointers to these pixels in groups. A
// group serves a tile of output pixels.
template <class T>
struct Window {
  Window(const igemm_context& context, size_t pixel)
      : rows(context.ks_scaled / (context.ks * sizeof(void*))),
        first(context.indirect_a + pixel / rows * rows * context.ks + pixel % rows),
        last(first + (context.ks - 1) * rows) {}

  const T* at(size_t tap) const { return static_cast<const T*>(first[tap * rows]); }
  // Returns true if the whole window is inside the image. The first and the last pixel are opposite
  // corners of the window. `zero` is XNNPACK's pointer for padding.
  bool is_inside(const void* zero) const { return *first != zero && *last != zero; }
  bool follows(const Window& other, ptrdiff_t step) const {
    return at(0) - other.at(0) == step &&
           static_cast<const T*>(*last) - static_cast<const T*>(*other.last) == step;
  }

  size_t rows;
  const void* const* first;
  const void* const* last;
};

// The bounds of the result. XNNPACK stores these bounds in the dtype of the result.
template <class T>
struct OutputBounds {
  explicit OutputBounds(const igemm_context& context) {
    T bounds[2];
    std::memcpy(static_cast<void*>(bounds), &context.params, sizeof(bounds));
    min = bounds[0];
    max = bounds[1];
  }
  bool are_infinite() const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return static_cast<float>(min) == -kInfinity && static_cast<float>(max) == kInfinity;
  }
  T min, max;
};

void clamp_line(float* line, int64_t count, const OutputBounds<float>& bounds) {
  const float parameters[] = {bounds.min, bounds.max, 0};
  const void* const in = line;
  simd::clamp()(&in, parameters, line, count, count);
}

[[gnu::noinline]] void clamp_line(Half* line, int64_t count, const OutputBounds<Half>& bounds) {
  const auto min = static_cast<float>(bounds.min);
  const auto max = static_cast<float>(bounds.max);
  for (Half& value : std::span(line, static_cast<size_t>(count))) {
    const auto number = static_cast<float>(value);
    if (number < min) value = bounds.min;
    if (number > max) value = bounds.max;
  }
}

// A task that XNNPACK calls with its own context. use_depthwise() has set `packed_w` to Vitrine's
// weights, and `kc` to the number of bytes of a pixel.
template <class T>
void depthwise_pixels(const igemm_context* context, size_t image, size_t first, size_t count) {
  const size_t channels = context->kc / sizeof(T);
  const auto* weights = static_cast<const float*>(context->packed_w);
  const size_t offset = context->a_offset + image * context->ba_stride;
  const OutputBounds<T> bounds(*context);
  const T* in[kMaxTaps];
  const float* tap_weights[kMaxTaps];
  simd::DepthwisePixels<T> pixels{.in = in,
                                  .weights = tap_weights,
                                  .taps = 0,
                                  .in_step = 0,
                                  .bias = weights,
                                  .out = nullptr,
                                  .out_step = static_cast<int64_t>(context->cm_stride / sizeof(T)),
                                  .channels = static_cast<int64_t>(channels),
                                  .count = 0};
  for (size_t pixel = first; pixel < first + count; pixel += static_cast<size_t>(pixels.count)) {
    Window<T> window(*context, pixel);
    pixels.taps = 0;
    for (size_t tap = 0; tap < context->ks; ++tap) {
      if (window.at(tap) == context->zero) continue;  // the tap is in the padding
      in[pixels.taps] = at_byte(window.at(tap), offset);
      tap_weights[pixels.taps++] = weights + (1 + tap) * channels;
    }
    pixels.out = at_byte(static_cast<T*>(context->c),
                         image * context->bc_stride + pixel * context->cm_stride);
    pixels.count = 1;
    // Adds the following pixels to this call of simd::depthwise_pixels(). All windows must be
    // inside the image and equally spaced.
    for (size_t next = pixel + 1; next < first + count && window.is_inside(context->zero); ++next) {
      const Window<T> following(*context, next);
      if (!following.is_inside(context->zero)) break;
      if (pixels.count == 1) pixels.in_step = following.at(0) - window.at(0);
      if (!following.follows(window, pixels.in_step)) break;
      window = following;
      ++pixels.count;
    }
    simd::depthwise_pixels(pixels);
    for (int64_t i = 0; i < pixels.count && !bounds.are_infinite(); ++i) {
      clamp_line(pixels.out + i * pixels.out_step, pixels.channels, bounds);
    }
  }
}

template <class T>
void use_depthwise(xnn_operator& op, const std::byte* weights) {
  igemm_context& context = igemm_context_of(op);
  const auto& convolution = convolution_of(op);
  context.packed_w = weights;
  context.kc = convolution.groups * sizeof(T);
  const size_t products = taps_of(op) * convolution.groups;
  const bool makes_table = (op.flags & XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER) != 0;
  compute_parameters& compute = op.compute[makes_table ? 1 : 0];
  compute.type = xnn_parallelization_type_2d_tile_1d;
  compute.task_2d_tile_1d = reinterpret_cast<pthreadpool_task_2d_tile_1d_t>(&depthwise_pixels<T>);
  compute.range[0] = op.batch_size;
  compute.range[1] = convolution.output_height * convolution.output_width;
  compute.tile[0] = std::max<size_t>(1, kTaskProducts / products);
}

template <class T>
constexpr Replacement depthwise(const char* name) {
  return {name,
          &is_depthwise<T>,
          &use_depthwise<T>,
          &depthwise_weight_bytes<T>,
          &copy_depthwise_weights,
          &owns_depthwise_weights<T>};
}

}  // namespace

const Replacement kDepthwise = depthwise<float>("Vitrine Depthwise Convolution (NHWC, F32)");
const Replacement kHalfDepthwise = depthwise<Half>("Vitrine Depthwise Convolution (NHWC, F16)");

}  // namespace vitrine::xnnpack::own_kernels
