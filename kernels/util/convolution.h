// Convolution and transposed convolution of any dtype in one, two or three spatial dimensions.
//
// For each image and group of channels, gemm.h multiplies the weights by patches of the input.
// Operands may have any memory format.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// The arguments of a convolution along depth, height and width. An absent dimension has size 1,
// kernel size 1 and the default arguments.
struct ConvolutionWindow {
  std::array<int64_t, 3> stride{1, 1, 1};
  std::array<int64_t, 3> padding{0, 0, 0};
  std::array<int64_t, 3> dilation{1, 1, 1};
  std::array<int64_t, 3> output_padding{0, 0, 0};
  bool transposed = false;
  int64_t groups = 1;
};

// Reads the schema's arguments for 1 to 3 spatial dimensions. A list with one number applies to all
// dimensions. Fails if an argument is out of range.
[[nodiscard]] std::optional<ConvolutionWindow> read_convolution_window(
    KernelContext& context, size_t spatial, std::span<const int64_t> stride,
    std::span<const int64_t> padding, std::span<const int64_t> dilation, bool transposed,
    std::span<const int64_t> output_padding, int64_t groups);

// Returns the output size of spatial dimension `dim` (0 to 2), or nullopt if the kernel does not
// fit.
std::optional<int64_t> convolution_output_size(const ConvolutionWindow& window, size_t dim,
                                               int64_t input, int64_t kernel);

// input [N, Cin, spatial...]; weight [Cout, Cin/groups, kernel...], or transposed [Cin,
// Cout/groups, kernel...]; bias [Cout] or null; out [N, Cout, spatial...]. The spatial sizes of
// `out` are not checked.
struct Convolution {
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  const ConvolutionWindow& window;
  Tensor& out;
};

// Fails if ranks, dtypes or channels do not match, or if a tensor has no memory.
[[nodiscard]] bool check_convolution(KernelContext& context, const Convolution& convolution);

// A function that computes a convolution with checked arguments.
using Convolve = void (*)(KernelContext& context, const Convolution& convolution);

void convolve(KernelContext& context, const Convolution& convolution);

// aten::convolution.out, computed by `convolve`.
void convolution(KernelContext& context, const Tensor& input, const Tensor& weight,
                 const Tensor* bias, std::span<const int64_t> stride,
                 std::span<const int64_t> padding, std::span<const int64_t> dilation,
                 bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                 Tensor& out, Convolve convolve);

template <Convolve convolve>
void convolution_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                     const Tensor* bias, std::span<const int64_t> stride,
                     std::span<const int64_t> padding, std::span<const int64_t> dilation,
                     bool transposed, std::span<const int64_t> output_padding, int64_t groups,
                     Tensor& out) {
  convolution(context, input, weight, bias, stride, padding, dilation, transposed, output_padding,
              groups, out, convolve);
}

// The layout of a tensor as batch, channels and three spatial dimensions.
Layout layout_5d(const Tensor& tensor);

}  // namespace vitrine
