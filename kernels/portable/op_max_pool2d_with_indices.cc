#include "kernels/util/max_pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void max_pool2d_with_indices_out(KernelContext& context, const Tensor& self,
                                 std::span<const int64_t> kernel_size,
                                 std::span<const int64_t> stride, std::span<const int64_t> padding,
                                 std::span<const int64_t> dilation, bool ceil_mode, Tensor& out,
                                 Tensor& indices) {
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, dilation, ceil_mode);
  if (window) max_pool(context, self, *window, out, indices);
}

}  // namespace

VITRINE_KERNEL(max_pool2d_with_indices_out, "aten::max_pool2d_with_indices.out",
               max_pool2d_with_indices_out);

}  // namespace vitrine::portable
