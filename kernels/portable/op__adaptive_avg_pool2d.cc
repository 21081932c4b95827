#include "kernels/util/average_pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void adaptive_avg_pool2d_out(KernelContext& context, const Tensor& self,
                             std::span<const int64_t> output_size, Tensor& out) {
  const auto window = read_adaptive_window(context, self, output_size);
  if (!window) return;
  average_pool(
      context, self, *window,
      [](const PoolRange& rows, const PoolRange& columns) {
        return rows.count() * columns.count();
      },
      out);
}

}  // namespace

VITRINE_KERNEL(_adaptive_avg_pool2d_out, "aten::_adaptive_avg_pool2d.out", adaptive_avg_pool2d_out);

}  // namespace vitrine::portable
