#include "kernels/util/average_pooling.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void avg_pool2d_out(KernelContext& context, const Tensor& self,
                    std::span<const int64_t> kernel_size, std::span<const int64_t> stride,
                    std::span<const int64_t> padding, bool ceil_mode, bool count_include_pad,
                    std::optional<int64_t> divisor_override, Tensor& out) {
  const int64_t kDense[] = {1};
  const auto window =
      read_pool_window(context, self, kernel_size, stride, padding, kDense, ceil_mode);
  if (!window) return;
  if (divisor_override && *divisor_override == 0) {
    context.fail(ErrorCode::kInvalidArgument, "divisor_override is zero");
    return;
  }
  average_pool(
      context, self, *window,
      [&](const PoolRange& rows, const PoolRange& columns) {
        if (divisor_override) return *divisor_override;
        return count_include_pad ? rows.padded * columns.padded : rows.count() * columns.count();
      },
      out);
}

}  // namespace

VITRINE_KERNEL(avg_pool2d_out, "aten::avg_pool2d.out", avg_pool2d_out);

}  // namespace vitrine::portable
