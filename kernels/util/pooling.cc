#include "kernels/util/pooling.h"

#include "kernels/util/checks.h"
#include "runtime/core/sliding_window.h"

namespace vitrine {

namespace {

// Reads one or two numbers in [min, INT32_MAX]. A single number applies to both dimensions.
bool read_pair(KernelContext& context, std::span<const int64_t> list, int64_t min, const char* name,
               std::array<int64_t, 2>& pair) {
  if (list.empty() || list.size() > 2) {
    context.fail(ErrorCode::kInvalidArgument, "%s has %zu numbers, expected 1 or 2", name,
                 list.size());
    return false;
  }
  pair = {list.front(), list.back()};
  for (const int64_t number : pair) {
    if (number >= min && number <= INT32_MAX) continue;
    context.fail(ErrorCode::kInvalidArgument, "%s %lld is out of range", name,
                 static_cast<long long>(number));
    return false;
  }
  return true;
}

}  // namespace

PoolRange PoolWindow::range(size_t dim, int64_t at) const {
  const int64_t start = at * stride[dim] - padding[dim];
  const int64_t reach = start + (kernel[dim] - 1) * dilation[dim] + 1;
  PoolRange range{start, std::min(reach, input[dim]), dilation[dim], 0};
  range.padded = std::min(reach, input[dim] + padding[dim]) - start;
  if (start < 0) range.begin += (-start + dilation[dim] - 1) / dilation[dim] * dilation[dim];
  return range;
}

PoolRange AdaptiveWindow::range(size_t dim, int64_t at) const {
  const int64_t begin = at * input[dim] / output[dim];
  const int64_t end = ((at + 1) * input[dim] + output[dim] - 1) / output[dim];
  return {begin, end, 1, end - begin};
}

std::optional<PoolWindow> read_pool_window(KernelContext& context, const Tensor& self,
                                           std::span<const int64_t> kernel_size,
                                           std::span<const int64_t> stride,
                                           std::span<const int64_t> padding,
                                           std::span<const int64_t> dilation, bool ceil_mode) {
  PoolWindow window;
  if (!check_images(context, self) ||
      !read_pair(context, kernel_size, 1, "kernel_size", window.kernel) ||
      !read_pair(context, stride.empty() ? kernel_size : stride, 1, "stride", window.stride) ||
      !read_pair(context, padding, 0, "padding", window.padding) ||
      !read_pair(context, dilation, 1, "dilation", window.dilation)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < 2; ++i) {
    const int64_t input = self.size(self.rank() - 2 + i);
    const SlidingWindow sliding{window.kernel[i], window.stride[i], window.dilation[i],
                                2 * window.padding[i]};
    const int64_t reach = window_reach(sliding).value_or(0);
    const int64_t output = window_count(sliding, input, ceil_mode).value_or(0);
    if (window.padding[i] > reach / 2 || output < 1) {
      context.fail(ErrorCode::kInvalidArgument,
                   "a window of %lld elements with padding %lld does not fit in %lld elements",
                   static_cast<long long>(reach), static_cast<long long>(window.padding[i]),
                   static_cast<long long>(input));
      return std::nullopt;
    }
    window.input[i] = input;
    window.output[i] = output;
  }
  return window;
}

std::optional<AdaptiveWindow> read_adaptive_window(KernelContext& context, const Tensor& self,
                                                   std::span<const int64_t> output_size) {
  AdaptiveWindow window;
  if (!check_images(context, self)) return std::nullopt;
  if (output_size.size() != 2) {
    context.fail(ErrorCode::kInvalidArgument, "output_size has %zu numbers, expected 2",
                 output_size.size());
    return std::nullopt;
  }
  if (!read_pair(context, output_size, 1, "output_size", window.output)) return std::nullopt;
  window.input = {self.size(self.rank() - 2), self.size(self.rank() - 1)};
  return window;
}

bool check_images(KernelContext& context, const Tensor& self) {
  const size_t rank = self.rank();
  if ((rank == 3 || rank == 4) && size_product(self, rank - 3, rank) > 0) return true;
  char text[96];
  describe(self, text, sizeof text);
  context.fail(ErrorCode::kInvalidArgument, "%s is not a non-empty [C,H,W] or [N,C,H,W]", text);
  return false;
}

bool resize_images(KernelContext& context, const Tensor& self, const std::array<int64_t, 2>& size,
                   Tensor& out) {
  Layout result(self);
  result.sizes[result.rank - 2] = size[0];
  result.sizes[result.rank - 1] = size[1];
  return resize_to(context, out, result.size_span());
}

Layout image_layout(const Tensor& tensor) {
  Layout layout(tensor);
  if (layout.rank == 3) layout.insert(0, 1, 0);
  return layout;
}

}  // namespace vitrine
