// Convolutions in float on all threads. Half and BFloat16 are converted. The portable kernel
// computes other dtypes.
#include "kernels/optimized/as_float.h"
#include "kernels/optimized/convolution_shape.h"
#include "vitrine/kernel.h"

namespace vitrine::optimized {

namespace {

Spatial dimensions(const std::array<int64_t, kMaxLoopRank>& numbers) {
  return {numbers[2], numbers[3], numbers[4]};
}

void flatten(Layout& layout, Spatial& sizes) {
  sizes = {1, 1, sizes[0] * sizes[1] * sizes[2]};
  layout.sizes[2] = 1;
  layout.sizes[3] = 1;
  layout.sizes[4] = sizes[2];
}

ConvolutionShape make_shape(const Convolution& c) {
  ConvolutionShape shape{c.input.unchecked_data<float>(),
                         c.weight.unchecked_data<float>(),
                         c.bias == nullptr ? nullptr : c.bias->unchecked_data<float>(),
                         c.out.unchecked_mutable_data<float>(),
                         {},
                         {},
                         {},
                         c.window,
                         layout_5d(c.input),
                         layout_5d(c.weight),
                         layout_5d(c.out),
                         c.out.size(1) / c.window.groups,
                         c.input.size(1) / c.window.groups};
  shape.in = dimensions(shape.input_layout.sizes);
  shape.kernel = dimensions(shape.weight_layout.sizes);
  shape.output = dimensions(shape.out_layout.sizes);
  const bool pointwise = shape.taps() == 1 && shape.in == shape.output &&
                         c.window.stride == Spatial{1, 1, 1} &&
                         c.window.padding == Spatial{0, 0, 0};
  if (pointwise && is_plane(shape.input_layout) && is_plane(shape.out_layout)) {
    flatten(shape.input_layout, shape.in);
    flatten(shape.out_layout, shape.output);
  }
  return shape;
}

// Returns false without doing anything if the portable kernel must compute this convolution.
bool convolve_floats(KernelContext& context, const Convolution& convolution) {
  const ConvolutionShape shape = make_shape(convolution);
  if (shape.window.transposed) return convolve_transposed(context, shape);
  if (!convolve_depthwise(context, convolution.weight, shape) &&
      !convolve_single_pixels(context, shape) &&
      !convolve_by_taps(context, convolution.weight, shape)) {
    convolve_as_product(context, shape);
  }
  return true;
}

void convolve(KernelContext& context, const Convolution& convolution) {
  if (convolution.out.numel() == 0 || convolution.input.numel() == 0) {
    return vitrine::convolve(context, convolution);
  }
  const ScalarType dtype = convolution.out.dtype();
  if (dtype == ScalarType::kFloat) {
    if (!convolve_floats(context, convolution)) vitrine::convolve(context, convolution);
    return;
  }
  if (!is_reduced_float(dtype)) return vitrine::convolve(context, convolution);

  FloatCopy input;
  FloatCopy weight;
  FloatCopy bias;
  FloatCopy out;
  if (!FloatCopy::make(context, convolution.input, input) ||
      !FloatCopy::make(context, convolution.weight, weight) ||
      !FloatCopy::make(context, convolution.out, out)) {
    return;
  }
  input.read(context, convolution.input);
  weight.read(context, convolution.weight);
  if (convolution.bias != nullptr) {
    if (!FloatCopy::make(context, *convolution.bias, bias)) return;
    bias.read(context, *convolution.bias);
  }
  const Convolution floats{input.tensor(), weight.tensor(),
                           convolution.bias == nullptr ? nullptr : &bias.tensor(),
                           convolution.window, out.tensor()};
  if (!convolve_floats(context, floats)) return vitrine::convolve(context, convolution);
  if (!context.failed()) out.write(context, convolution.out);
}

}  // namespace

VITRINE_KERNEL(convolution_out, "aten::convolution.out", convolution_out<convolve>);

}  // namespace vitrine::optimized
