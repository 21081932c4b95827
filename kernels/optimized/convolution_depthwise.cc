// Convolutions with one input channel per group, plane by plane or pixel by pixel.
#include <algorithm>

#include "kernels/optimized/convolution_shape.h"
#include "kernels/optimized/simd/depthwise.h"
#include "kernels/optimized/simd/gemm.h"
#include "kernels/optimized/simd/transpose.h"
#include "kernels/util/packing_key.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

// Limits along the width. They bound the length of the copied lines in depthwise_plane().
constexpr int64_t kMaxDepthwiseStride = 8;
constexpr int64_t kMaxDepthwisePadding = 64;
constexpr int64_t kCacheLineFloats = 16;
constexpr int64_t kChannelBlock = 64;  // channels that a thread converts at a time

bool is_depthwise(const ConvolutionShape& shape) {
  return shape.group_channels == 1 && shape.window.groups > 1 && shape.kernel[0] == 1 &&
         shape.in[0] == 1 && shape.window.padding[0] == 0 &&
         shape.taps() <= simd::kMaxDepthwiseTaps && shape.window.stride[2] <= kMaxDepthwiseStride &&
         shape.window.padding[2] <= kMaxDepthwisePadding;
}

// Work in the unit of kParallelWork. A plane counts as at least 2000 units. A multiplication counts
// as three units, because it is slower here than in a matrix product.
int64_t depthwise_work(const ConvolutionShape& shape) {
  const int64_t plane = work_of({3, shape.positions(), shape.taps()});
  return work_of(
      {shape.out_layout.sizes[0], shape.out_layout.sizes[1], std::max<int64_t>(plane, 2000)});
}

// For dim order N, C, H, W.
void convolve_planes(KernelContext& context, const ConvolutionShape& shape) {
  const ConvolutionWindow& window = shape.window;
  const int64_t line = simd::depthwise_line(shape.in[2], window.stride[2], window.padding[2]);
  // Extra space separates the workers' scratch areas, so that two areas do not share a cache line.
  const int64_t lines = shape.in[1] + 2 + (simd::kDepthwiseSlack + kCacheLineFloats) / line;
  auto* const scratch = static_cast<float*>(
      context.allocate_temp({worker_count(context), lines, line, sizeof(float)}));
  if (scratch == nullptr) return;
  const int64_t scratch_size = lines * line;
  std::fill_n(scratch, worker_count(context) * scratch_size, 0.0F);  // the padding stays zero
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const Layout& weight = shape.weight_layout;
  const int64_t channels = out.sizes[1];
  const auto convolve_plane = [&](int64_t item, int64_t worker) {
    const int64_t image = item / channels;
    const int64_t channel = item % channels;
    float weights[simd::kMaxDepthwiseTaps];
    for (int64_t ky = 0; ky < shape.kernel[1]; ++ky) {
      for (int64_t kx = 0; kx < shape.kernel[2]; ++kx) {
        weights[ky * shape.kernel[2] + kx] =
            shape.weight[channel * weight.strides[0] + ky * weight.strides[3] +
                         kx * weight.strides[4]];
      }
    }
    simd::depthwise_plane({
        .input = shape.input + image * in.strides[0] + channel / shape.group_rows * in.strides[1],
        .input_stride = in.strides[3],
        .height = shape.in[1],
        .width = shape.in[2],
        .scratch = scratch + worker * scratch_size,
        .weights = weights,
        .kernel_height = shape.kernel[1],
        .kernel_width = shape.kernel[2],
        .stride = window.stride[1],
        .padding = window.padding[1],
        .dilation = window.dilation[1],
        .step = window.stride[2],
        .side = window.padding[2],
        .spread = window.dilation[2],
        .bias = shape.bias == nullptr ? 0.0F : shape.bias[channel],
        .out = shape.out + image * out.strides[0] + channel * out.strides[1],
        .out_stride = out.strides[3],
        .out_height = shape.output[1],
        .out_width = shape.output[2],
    });
  };
  parallel(context, out.sizes[0] * channels, depthwise_work(shape), convolve_plane);
}

// The range [begin, end) of taps along `dim` inside the image, for output coordinate `at`.
struct TapRange {
  int64_t begin;
  int64_t end;
};
TapRange taps_inside(const ConvolutionShape& shape, size_t dim, int64_t at) {
  const int64_t dilation = shape.window.dilation[dim];
  const int64_t first = at * shape.window.stride[dim] - shape.window.padding[dim];
  const int64_t begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
  const int64_t room = shape.in[dim] - 1 - first;
  const int64_t end = room < 0 ? 0 : room / dilation + 1;
  return {std::min(begin, shape.kernel[dim]), std::min(end, shape.kernel[dim])};
}

// Sets weights[tap * channels + channel].
void order_by_tap(const ConvolutionShape& shape, float* weights) {
  const int64_t channels = shape.out_layout.sizes[1];
  const int64_t taps = shape.taps();
  const Layout& layout = shape.weight_layout;
  if (is_plane(layout) && layout.strides[4] == 1) {
    return simd::transpose(shape.weight, layout.strides[0], weights, channels, taps, channels);
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    const float* const from = shape.weight + tap / shape.kernel[2] * layout.strides[3] +
                              tap % shape.kernel[2] * layout.strides[4];
    float* const to = weights + tap * channels;
    for (int64_t c = 0; c < channels; ++c) to[c] = from[c * layout.strides[0]];
  }
}

// Returns the weights ordered by tap. Orders constant weights once. If temporary memory runs out,
// fails the context and returns null.
const float* weights_by_tap(KernelContext& context, const Tensor& weight,
                            const ConvolutionShape& shape) {
  const auto& strides = shape.weight_layout.strides;
  PackingKey key;
  for (const int64_t number : {shape.taps(), shape.kernel[2], strides[0], strides[3], strides[4]}) {
    key.add(number);
  }
  const int64_t count = shape.taps() * shape.out_layout.sizes[1];
  const auto derived =
      context.derive(weight, key.value(), static_cast<size_t>(count) * sizeof(float));
  void* const data =
      derived.data != nullptr ? derived.data : context.allocate_temp({count, sizeof(float)});
  auto* const weights = static_cast<float*>(data);
  if (weights != nullptr && (derived.data == nullptr || derived.is_new)) {
    order_by_tap(shape, weights);
  }
  return weights;
}

// For dim order N, H, W, C.
void convolve_pixels(KernelContext& context, const ConvolutionShape& shape, const float* weights) {
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const ConvolutionWindow& window = shape.window;
  const int64_t channels = out.sizes[1];
  const auto convolve_line = [&](int64_t item, int64_t) {
    const int64_t y = item % shape.output[1];
    const TapRange rows = taps_inside(shape, 1, y);
    const float* const image = shape.input + item / shape.output[1] * in.strides[0];
    float* const line = shape.out + item / shape.output[1] * out.strides[0] + y * out.strides[3];
    for (int64_t x = 0; x < shape.output[2];) {
      const TapRange columns = taps_inside(shape, 2, x);
      const float* tap_inputs[simd::kMaxDepthwiseTaps];
      const float* tap_weights[simd::kMaxDepthwiseTaps];
      int64_t count = 0;
      for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
        const int64_t from_y = y * window.stride[1] - window.padding[1] + ky * window.dilation[1];
        for (int64_t kx = columns.begin; kx < columns.end; ++kx, ++count) {
          const int64_t from_x = x * window.stride[2] - window.padding[2] + kx * window.dilation[2];
          tap_inputs[count] = image + from_y * in.strides[3] + from_x * in.strides[4];
          tap_weights[count] = weights + (ky * shape.kernel[2] + kx) * channels;
        }
      }
      // Consecutive output pixels with the same taps are computed together.
      int64_t next = x + 1;
      if (columns.begin == 0 && columns.end == shape.kernel[2]) {
        const int64_t last_tap = (shape.kernel[2] - 1) * window.dilation[2];
        const int64_t room = shape.in[2] - 1 - last_tap + window.padding[2];
        next = std::min(shape.output[2], room / window.stride[2] + 1);
      }
      simd::depthwise_pixels(
          simd::DepthwisePixels<float>{.in = tap_inputs,
                                       .weights = tap_weights,
                                       .taps = count,
                                       .in_step = window.stride[2] * in.strides[4],
                                       .bias = shape.bias,
                                       .out = line + x * out.strides[4],
                                       .out_step = out.strides[4],
                                       .channels = channels,
                                       .count = next - x});
      x = next;
    }
  };
  parallel(context, out.sizes[0] * shape.output[1], depthwise_work(shape), convolve_line);
}

// True if lines are so short that vectors of pixels would be mostly empty.
bool has_short_lines(const ConvolutionShape& shape) {
  const int64_t lanes = simd::gemm_shape().lanes;
  return shape.group_rows == 1 && shape.out_layout.sizes[1] >= lanes && shape.output[2] < lanes &&
         is_plane(shape.input_layout) && is_plane(shape.out_layout);
}

// Converts images to channels-last, convolves, and converts the results back.
void convolve_as_pixels(KernelContext& context, const ConvolutionShape& shape,
                        const float* weights) {
  const int64_t channels = shape.out_layout.sizes[1];
  const int64_t size = shape.in[1] * shape.in[2];
  auto* const in = static_cast<float*>(context.allocate_temp({size, channels, sizeof(float)}));
  auto* const out =
      static_cast<float*>(context.allocate_temp({shape.positions(), channels, sizeof(float)}));
  if (in == nullptr || out == nullptr) return;
  ConvolutionShape pixels = shape;
  pixels.input = in;
  pixels.out = out;
  pixels.input_layout.strides = {0, 1, 0, shape.in[2] * channels, channels};
  pixels.out_layout.strides = {0, 1, 0, shape.output[2] * channels, channels};
  pixels.out_layout.sizes[0] = 1;
  // Calls body(first channel, count) for each part of the channels, in parallel.
  const auto for_channels = [&](const auto& body) {
    parallel_ranges(context, channels, kChannelBlock, work_of({8, size}),
                    [&](int64_t begin, int64_t end) { body(begin, end - begin); });
  };
  for (int64_t n = 0; n < shape.out_layout.sizes[0] && !context.failed(); ++n) {
    const KernelContext::TemporaryScope scope(context);
    const int64_t in_plane = shape.input_layout.strides[1];
    const int64_t out_plane = shape.out_layout.strides[1];
    const float* const images = shape.input + n * shape.input_layout.strides[0];
    float* const results = shape.out + n * shape.out_layout.strides[0];
    for_channels([&](int64_t c, int64_t count) {
      simd::transpose(images + c * in_plane, in_plane, in + c, channels, size, count);
    });
    convolve_pixels(context, pixels, weights);
    for_channels([&](int64_t c, int64_t count) {
      simd::transpose(out + c, channels, results + c * out_plane, out_plane, count,
                      shape.positions());
    });
  }
}

}  // namespace

bool convolve_depthwise(KernelContext& context, const Tensor& weight,
                        const ConvolutionShape& shape) {
  if (!is_depthwise(shape)) return false;
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const auto in_lines = [](const Layout& layout) {
    return layout.strides[4] == 1 || layout.sizes[4] == 1;
  };
  const bool has_lines = in_lines(in) && in_lines(out);
  if (has_lines && !has_short_lines(shape)) {
    convolve_planes(context, shape);
    return true;
  }
  if (!has_lines && (shape.group_rows != 1 || in.strides[1] != 1 || out.strides[1] != 1)) {
    return false;
  }
  const float* const weights = weights_by_tap(context, weight, shape);
  if (weights == nullptr) return true;  // the context has failed
  (has_lines ? convolve_as_pixels : convolve_pixels)(context, shape, weights);
  return true;
}

}  // namespace vitrine::optimized
