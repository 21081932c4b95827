#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/util/layout.h"
#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// The input positions that an output element reads in one dimension: begin, begin + step, and so
// on, below `end`. All positions are inside the input.
struct PoolRange {
  int64_t begin;
  int64_t end;
  int64_t step;
  int64_t padded;  // length of the window, including padding, for count_include_pad

  int64_t count() const { return end > begin ? (end - begin - 1) / step + 1 : 0; }
};

// Index 0 is height, index 1 is width.
struct PoolWindow {
  std::array<int64_t, 2> input;
  std::array<int64_t, 2> output;
  std::array<int64_t, 2> kernel;
  std::array<int64_t, 2> stride;
  std::array<int64_t, 2> padding;
  std::array<int64_t, 2> dilation{1, 1};

  PoolRange range(size_t dim, int64_t at) const;
};

// Reads the arguments of max_pool2d and avg_pool2d for an image tensor of rank 3 or 4. An empty
// `stride` means `kernel_size`. Fails if an argument is out of range or the output would be empty.
[[nodiscard]] std::optional<PoolWindow> read_pool_window(KernelContext& context, const Tensor& self,
                                                         std::span<const int64_t> kernel_size,
                                                         std::span<const int64_t> stride,
                                                         std::span<const int64_t> padding,
                                                         std::span<const int64_t> dilation,
                                                         bool ceil_mode);

// Windows that divide the input evenly into `output` parts. Adjacent parts may overlap by a row or
// column.
struct AdaptiveWindow {
  std::array<int64_t, 2> input;
  std::array<int64_t, 2> output;

  PoolRange range(size_t dim, int64_t at) const;
};
[[nodiscard]] std::optional<AdaptiveWindow> read_adaptive_window(
    KernelContext& context, const Tensor& self, std::span<const int64_t> output_size);

// Fails unless `self` is [C, H, W] or [N, C, H, W] with images that are not empty.
[[nodiscard]] bool check_images(KernelContext& context, const Tensor& self);
// `size` is the new height and width.
[[nodiscard]] bool resize_images(KernelContext& context, const Tensor& self,
                                 const std::array<int64_t, 2>& size, Tensor& out);
// The layout of an image tensor as [N, C, H, W]. N is 1 for rank 3.
Layout image_layout(const Tensor& tensor);

// Calls element(offset of the input's plane, height range, width range, offset of the output's
// element) for every element of the result.
template <class Window, class Element>
void for_each_window(const Window& window, const Layout& input, const Layout& output,
                     Element&& element) {
  for (int64_t n = 0; n < output.sizes[0]; ++n) {
    for (int64_t c = 0; c < output.sizes[1]; ++c) {
      const int64_t from = n * input.strides[0] + c * input.strides[1];
      const int64_t to = n * output.strides[0] + c * output.strides[1];
      for (int64_t y = 0; y < output.sizes[2]; ++y) {
        const PoolRange rows = window.range(0, y);
        for (int64_t x = 0; x < output.sizes[3]; ++x) {
          element(from, rows, window.range(1, x),
                  to + y * output.strides[2] + x * output.strides[3]);
        }
      }
    }
  }
}

}  // namespace vitrine
