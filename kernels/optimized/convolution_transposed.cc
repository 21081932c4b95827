// Transposed convolutions. A matrix product computes the contribution of every input element
// through every tap of the kernel. The contributions are then added to the output.
#include "kernels/optimized/convolution_shape.h"
#include "kernels/optimized/matrix_product.h"
#include "kernels/util/parallel.h"

namespace vitrine::optimized {

namespace {

bool has_supported_layout(const ConvolutionShape& shape) {
  const Layout& weight = shape.weight_layout;
  return is_plane(shape.input_layout) && is_plane(weight) &&
         (shape.taps() == 1 || weight.strides[4] == 1) &&
         (shape.group_rows == 1 || weight.strides[1] == shape.taps());
}

void fill_plane(const ConvolutionShape& shape, float value, float* plane) {
  const Layout& out = shape.out_layout;
  for (int64_t z = 0; z < shape.output[0]; ++z) {
    for (int64_t y = 0; y < shape.output[1]; ++y) {
      float* const line = plane + z * out.strides[2] + y * out.strides[3];
      for (int64_t x = 0; x < shape.output[2]; ++x) line[x * out.strides[4]] = value;
    }
  }
}

// Adds one tap's contributions to a channel of the output. `parts` has one contribution per input
// element, in row-major order.
void add_tap(const ConvolutionShape& shape, const Spatial& tap, const float* parts, float* plane) {
  const Layout& out = shape.out_layout;
  const ConvolutionWindow& window = shape.window;
  // The output coordinate for input coordinate `source`. May be outside the output.
  const auto target = [&](size_t dim, int64_t source) {
    return source * window.stride[dim] - window.padding[dim] + tap[dim] * window.dilation[dim];
  };
  for (int64_t z = 0; z < shape.in[0]; ++z) {
    for (int64_t y = 0; y < shape.in[1]; ++y, parts += shape.in[2]) {
      const int64_t to_z = target(0, z);
      const int64_t to_y = target(1, y);
      if (to_z < 0 || to_z >= shape.output[0] || to_y < 0 || to_y >= shape.output[1]) continue;
      float* const line = plane + to_z * out.strides[2] + to_y * out.strides[3];
      for (int64_t x = 0; x < shape.in[2]; ++x) {
        const int64_t to_x = target(2, x);
        if (to_x >= 0 && to_x < shape.output[2]) line[to_x * out.strides[4]] += parts[x];
      }
    }
  }
}

void add_parts(const ConvolutionShape& shape, int64_t channel, const float* parts, float* plane) {
  fill_plane(shape, shape.bias == nullptr ? 0.0F : shape.bias[channel], plane);
  const int64_t elements = shape.in[0] * shape.in[1] * shape.in[2];
  for (int64_t tap = 0; tap < shape.taps(); ++tap) {
    const int64_t line = tap / shape.kernel[2];
    const Spatial position{line / shape.kernel[1], line % shape.kernel[1], tap % shape.kernel[2]};
    add_tap(shape, position, parts + tap * elements, plane);
  }
}

}  // namespace

bool convolve_transposed(KernelContext& context, const ConvolutionShape& shape) {
  if (!has_supported_layout(shape)) return false;
  const Layout& in = shape.input_layout;
  const Layout& out = shape.out_layout;
  const Layout& weight = shape.weight_layout;
  const int64_t elements = shape.in[0] * shape.in[1] * shape.in[2];
  const int64_t rows = shape.group_rows * shape.taps();
  auto* const parts = static_cast<float*>(context.allocate_temp({rows, elements, sizeof(float)}));
  if (parts == nullptr) return true;
  for (int64_t image = 0; image < out.sizes[0]; ++image) {
    for (int64_t group = 0; group < shape.window.groups; ++group) {
      const int64_t first = group * shape.group_channels;
      const Matrix filters{shape.weight + first * weight.strides[0], rows, shape.group_channels, 1,
                           weight.strides[0]};
      const Matrix pixels{shape.input + image * in.strides[0] + first * in.strides[1],
                          shape.group_channels, elements, in.strides[1], in.strides[4]};
      multiply(context, filters, pixels, parts);
      if (context.failed()) return true;
      parallel(context, shape.group_rows, rows * elements, [&](int64_t row, int64_t) {
        const int64_t channel = group * shape.group_rows + row;
        add_parts(shape, channel, parts + row * shape.taps() * elements,
                  shape.out + image * out.strides[0] + channel * out.strides[1]);
      });
    }
  }
  return true;
}

}  // namespace vitrine::optimized
