#include "kernels/util/max_pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void adaptive_max_pool2d_out(KernelContext& context, const Tensor& self,
                             std::span<const int64_t> output_size, Tensor& out, Tensor& indices) {
  const auto window = read_adaptive_window(context, self, output_size);
  if (window) max_pool(context, self, *window, out, indices);
}

}  // namespace

VITRINE_KERNEL(adaptive_max_pool2d_out, "aten::adaptive_max_pool2d.out", adaptive_max_pool2d_out);

}  // namespace vitrine::portable
