#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Adds each gradient to the largest element of its window.
void max_pool2d_with_indices_backward(KernelContext& context, const Tensor& grad_output,
                                      const Tensor& self, std::span<const int64_t> kernel_size,
                                      std::span<const int64_t> stride,
                                      std::span<const int64_t> padding,
                                      std::span<const int64_t> dilation, bool ceil_mode,
                                      const Tensor& indices, Tensor& grad_input) {
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, dilation, ceil_mode);
  if (!window) return;
  std::array<int32_t, 4> pooled;
  std::ranges::copy(self.sizes(), pooled.begin());
  for (size_t i = 0; i < 2; ++i) {
    pooled[self.rank() - 2 + i] = static_cast<int32_t>(window->output[i]);
  }
  const std::span<const int32_t> sizes(pooled.data(), self.rank());
  if (!check_dtype(context, grad_output, self.dtype(), "grad_output") ||
      !check_dtype(context, grad_input, self.dtype(), "grad_input") ||
      !check_dtype(context, indices, ScalarType::kLong, "indices") ||
      !check_sizes(context, grad_output, sizes, "grad_output") ||
      !check_sizes(context, indices, sizes, "indices") ||
      !context.resize(grad_input, self.sizes()) ||
      !check_data(context, {&grad_output, &indices, &grad_input})) {
    return;
  }
  const Layout from = image_layout(grad_output);
  const Layout places = image_layout(indices);
  const Layout to = image_layout(grad_input);
  dispatch<FloatHBF16Types>(context, self.dtype(), [&]<class T>() {
    std::memset(grad_input.mutable_raw_data(), 0, grad_input.nbytes());
    for (int64_t i = 0; i < grad_output.numel(); ++i) {
      const int64_t place = indices.unchecked_data<int64_t>()[places.offset_of(i)];
      if (place < 0 || place >= window->input[0] * window->input[1]) {
        context.fail(ErrorCode::kInvalidArgument, "index %lld is outside of the plane",
                     static_cast<long long>(place));
        return;
      }
      const int64_t plane = i / (from.sizes[2] * from.sizes[3]);
      T& sum = grad_input.unchecked_mutable_data<
          T>()[plane / from.sizes[1] * to.strides[0] + plane % from.sizes[1] * to.strides[1] +
               place / window->input[1] * to.strides[2] + place % window->input[1] * to.strides[3]];
      using C = Compute<T>;
      sum = T(C(sum) + C(grad_output.unchecked_data<T>()[from.offset_of(i)]));
    }
  });
}

}  // namespace

VITRINE_KERNEL(max_pool2d_with_indices_backward_grad_input,
               "aten::max_pool2d_with_indices_backward.grad_input",
               max_pool2d_with_indices_backward);

}  // namespace vitrine::portable
