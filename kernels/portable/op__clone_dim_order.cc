#include "kernels/util/dim_order.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void clone_dim_order_out(KernelContext& context, const Tensor& self, bool non_blocking,
                         std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  (void)non_blocking;
  if (check_dim_order(context, dim_order, out)) copy_view(context, self, Layout(self), out);
}

}  // namespace

VITRINE_KERNEL(_clone_dim_order_out, "dim_order_ops::_clone_dim_order.out", clone_dim_order_out);

}  // namespace vitrine::portable
