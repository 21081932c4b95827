// Convolution of any dtype, in one, two or three spatial dimensions, forwards and transposed.
//
// Each group is a matrix product (gemm.h): weights by patches, where the patches are gathered from
// the input as the product asks for them; a transposed convolution gathers, too. Strides express
// memory formats.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Windows over three spatial dimensions (depth, height, width; absent ones come first and have one
// element and a window of one).
struct ConvolutionWindow {
  std::array<int64_t, 3> stride{1, 1, 1};
  std::array<int64_t, 3> padding{0, 0, 0};
  std::array<int64_t, 3> dilation{1, 1, 1};
  std::array<int64_t, 3> output_padding{0, 0, 0};
  bool transposed = false;
  int64_t groups = 1;
};

// The schema's arguments for `spatial` dimensions, 1 to 3; a list of one number serves all.
// Fails on anything out of range.
[[nodiscard]] std::optional<ConvolutionWindow> read_convolution_window(
    KernelContext& context, size_t spatial, std::span<const int64_t> stride,
    std::span<const int64_t> padding, std::span<const int64_t> dilation, bool transposed,
    std::span<const int64_t> output_padding, int64_t groups);

// Size of the output along spatial dimension `dim` (of three), or nothing if there is none.
std::optional<int64_t> convolution_output_size(const ConvolutionWindow& window, size_t dim,
                                               int64_t input, int64_t kernel);

// input [N, Cin, spatial...]; weight [Cout, Cin/groups, kernel...], transposed [Cin, Cout/groups,
// kernel...]; bias [Cout] or null; out [N, Cout, spatial...], whose spatial sizes are taken as they
// are.
struct Convolution {
  const Tensor& input;
  const Tensor& weight;
  const Tensor* bias;
  const ConvolutionWindow& window;
  Tensor& out;
};

// Fails if ranks, dtypes or channels do not fit, or a tensor has no memory.
[[nodiscard]] bool check_convolution(KernelContext& context, const Convolution& convolution);

// How a convolution is computed. Arguments must be checked before.
using Convolve = void (*)(KernelContext& context, const Convolution& convolution);

// For every dtype and layout.
void convolve(KernelContext& context, const Convolution& convolution);

// aten::convolution.out, over any way to compute it.
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

// Batch, channels and three spatial dimensions.
Layout five_dimensions(const Tensor& tensor);

}  // namespace vitrine
