#include "kernels/util/dim_order.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void empty_dim_order_out(KernelContext& context, std::span<const int64_t> size,
                         std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  if (check_dim_order(context, dim_order, out)) (void)resize_to(context, out, size);
}

}  // namespace

VITRINE_KERNEL(_empty_dim_order_out, "dim_order_ops::_empty_dim_order.out", empty_dim_order_out);

}  // namespace vitrine::portable
