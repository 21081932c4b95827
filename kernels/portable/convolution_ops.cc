#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/convolution.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The operands of the weight's gradient. Both have the shape [N, C, height, width].
struct GradientOperands {
  const Tensor& windows;   // one element per window: grad_output, or input if transposed
  const Tensor& elements;  // elements under the windows: input, or grad_output if transposed
};

// Sets gradient[a, b, tap] to a sum over all images and windows. Each term multiplies two elements:
// - of operands.windows: the element of this window, in channel a;
// - of operands.elements: the element under `tap`, in channel b of the group that contains a.
template <class T>
void sum_weight_gradient(const GradientOperands& operands, const ConvolutionWindow& window,
                         Tensor& gradient) {
  using C = Compute<T>;
  const Layout windows(operands.windows);
  const Layout elements(operands.elements);
  const Layout weights(gradient);
  const int64_t rows_per_group = weights.sizes[0] / window.groups;
  const int64_t images = operands.windows.numel() == 0 ? 0 : windows.sizes[0];
  for (int64_t i = 0; i < gradient.numel(); ++i) {
    const int64_t kx = i % weights.sizes[3];
    const int64_t ky = i / weights.sizes[3] % weights.sizes[2];
    const int64_t b = i / (weights.sizes[3] * weights.sizes[2]) % weights.sizes[1];
    const int64_t a = i / (weights.sizes[3] * weights.sizes[2] * weights.sizes[1]);
    const int64_t channel = a / rows_per_group * weights.sizes[1] + b;
    C sum(0);
    for (int64_t n = 0; n < images; ++n) {
      const T* window_plane =
          operands.windows.unchecked_data<T>() + n * windows.strides[0] + a * windows.strides[1];
      const T* element_plane = operands.elements.unchecked_data<T>() + n * elements.strides[0] +
                               channel * elements.strides[1];
      for (int64_t y = 0; y < windows.sizes[2]; ++y) {
        const int64_t row = y * window.stride[1] - window.padding[1] + ky * window.dilation[1];
        if (row < 0 || row >= elements.sizes[2]) continue;
        for (int64_t x = 0; x < windows.sizes[3]; ++x) {
          const int64_t column = x * window.stride[2] - window.padding[2] + kx * window.dilation[2];
          if (column < 0 || column >= elements.sizes[3]) continue;
          sum += C(window_plane[y * windows.strides[2] + x * windows.strides[3]]) *
                 C(element_plane[row * elements.strides[2] + column * elements.strides[3]]);
        }
      }
    }
    gradient.unchecked_mutable_data<T>()[weights.offset_of(i)] = T(sum);
  }
}

template <class T>
void sum_bias_gradient(const Tensor& grad_output, Tensor& gradient) {
  const Layout layout(grad_output);
  for (int64_t c = 0; c < layout.sizes[1]; ++c) {
    Compute<T> sum(0);
    for (int64_t n = 0; n < layout.sizes[0]; ++n) {
      for (int64_t i = 0; i < layout.sizes[2] * layout.sizes[3]; ++i) {
        sum += Compute<T>(
            grad_output.unchecked_data<T>()[n * layout.strides[0] + c * layout.strides[1] +
                                            i / layout.sizes[3] * layout.strides[2] +
                                            i % layout.sizes[3] * layout.strides[3]]);
      }
    }
    gradient.unchecked_mutable_data<T>()[c] = T(sum);
  }
}

// Fails unless grad_output has the shape and dtype of the convolution's output.
bool check_grad_output(KernelContext& context, const Tensor& grad_output, const Tensor& input,
                       const Tensor& weight, const ConvolutionWindow& window) {
  std::array<int32_t, 4> sizes{input.size(0), 0, 0, 0};
  const int64_t weight_channels = weight.size(1) * window.groups;
  const int64_t channels = window.transposed ? weight_channels : weight.size(0);
  bool fits = channels <= INT32_MAX && weight.size(0) % window.groups == 0 &&
              input.size(1) == (window.transposed ? weight.size(0) : weight_channels);
  sizes[1] = static_cast<int32_t>(channels);
  for (size_t i = 0; fits && i < 2; ++i) {
    const auto size = convolution_output_size(window, 1 + i, input.size(2 + i), weight.size(2 + i));
    fits = size.has_value();
    sizes[2 + i] = static_cast<int32_t>(size.value_or(0));
  }
  if (!fits) {
    context.fail(ErrorCode::kInvalidArgument,
                 "the shapes of weight and input do not match with %lld groups",
                 static_cast<long long>(window.groups));
    return false;
  }
  const ScalarType dtype = input.dtype();
  return check_dtype_in<FloatHBF16Types>(context, input) &&
         check_sizes(context, grad_output, sizes, "grad_output") &&
         check_dtype(context, grad_output, dtype, "grad_output") &&
         check_dtype(context, weight, dtype, "weight") &&
         check_data(context, {&grad_output, &input, &weight});
}

// The gradient of a convolution with respect to its input is a transposed convolution, and vice
// versa.
void input_gradient(KernelContext& context, const Tensor& grad_output, const Tensor& input,
                    const Tensor& weight, const ConvolutionWindow& window, Tensor& out) {
  ConvolutionWindow reverse = window;
  reverse.transposed = !window.transposed;
  if (!context.resize(out, input.sizes())) return;
  const Convolution gradient{grad_output, weight, nullptr, reverse, out};
  if (check_convolution(context, gradient)) convolve(context, gradient);
}

bool prepare_gradient(KernelContext& context, ScalarType dtype, std::span<const int32_t> sizes,
                      const char* name, Tensor& out) {
  return check_dtype(context, out, dtype, name) && context.resize(out, sizes) &&
         check_data(context, {&out});
}

// Computes the gradients that output_mask selects. Other outputs stay unchanged.
void convolution_backward_out(KernelContext& context, const Tensor& grad_output,
                              const Tensor& input, const Tensor& weight,
                              std::optional<std::span<const int64_t>> /*bias_sizes*/,
                              std::span<const int64_t> stride, std::span<const int64_t> padding,
                              std::span<const int64_t> dilation, bool transposed,
                              std::span<const int64_t> output_padding, int64_t groups,
                              std::span<const bool> output_mask, Tensor& out0, Tensor& out1,
                              Tensor& out2) {
  if (output_mask.size() != 3) {
    return context.fail(ErrorCode::kInvalidArgument, "output_mask has %zu elements, expected 3",
                        output_mask.size());
  }
  if (!check_rank(context, input, 4, "input") || !check_rank(context, weight, 4, "weight")) return;
  const auto window = read_convolution_window(context, 2, stride, padding, dilation, transposed,
                                              output_padding, groups);
  if (!window || !check_grad_output(context, grad_output, input, weight, *window)) return;
  const ScalarType dtype = input.dtype();
  const std::array channels{grad_output.size(1)};
  if (output_mask[0]) input_gradient(context, grad_output, input, weight, *window, out0);
  if (output_mask[1] && !context.failed() &&
      prepare_gradient(context, dtype, weight.sizes(), "out1", out1)) {
    const GradientOperands operands =
        transposed ? GradientOperands{input, grad_output} : GradientOperands{grad_output, input};
    dispatch<FloatHBF16Types>(context, dtype,
                              [&]<class T>() { sum_weight_gradient<T>(operands, *window, out1); });
  }
  if (output_mask[2] && !context.failed() &&
      prepare_gradient(context, dtype, channels, "out2", out2)) {
    dispatch<FloatHBF16Types>(context, dtype,
                              [&]<class T>() { sum_bias_gradient<T>(grad_output, out2); });
  }
}

}  // namespace

VITRINE_KERNEL(convolution_out, "aten::convolution.out", convolution_out<convolve>);
VITRINE_KERNEL(convolution_backward_out, "aten::convolution_backward.out",
               convolution_backward_out);

}  // namespace vitrine::portable
