// Operators that copy all elements of a tensor. The program determines the dim order of `out`, so
// memory_format is ignored.
#include "kernels/util/checks.h"
#include "kernels/util/dim_order.h"
#include "kernels/util/element_copy.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Implements several operators, which PyTorch distinguishes only for autograd and devices.
void alias_copy_out(KernelContext& context, const Tensor& self, Tensor& out) {
  copy_view(context, self, Layout(self), out);
}

void clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t> /*memory_format*/,
               Tensor& out) {
  alias_copy_out(context, self, out);
}

void clone_dim_order_out(KernelContext& context, const Tensor& self, bool /*non_blocking*/,
                         std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  if (check_dim_order(context, dim_order, out)) alias_copy_out(context, self, out);
}

void to_copy_out(KernelContext& context, const Tensor& self, bool /*non_blocking*/,
                 std::optional<int64_t> /*memory_format*/, Tensor& out) {
  copy_tensor(context, self, out);
}

void to_dim_order_copy_out(KernelContext& context, const Tensor& self, bool /*non_blocking*/,
                           std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  if (check_dim_order(context, dim_order, out)) copy_tensor(context, self, out);
}

void copy_(KernelContext& context, Tensor& self, const Tensor& src, bool /*non_blocking*/) {
  (void)copy_broadcast(context, src, self, Layout(self));
}

// Uses only the shape and dtype of `self`.
void copy_out(KernelContext& context, const Tensor& self, const Tensor& src, bool non_blocking,
              Tensor& out) {
  if (!check_dtype(context, out, self.dtype(), "out") || !context.resize(out, self.sizes())) return;
  copy_(context, out, src, non_blocking);
}

}  // namespace

VITRINE_KERNEL(_clone_dim_order_out, "dim_order_ops::_clone_dim_order.out", clone_dim_order_out);
VITRINE_KERNEL(_to_copy_out, "aten::_to_copy.out", to_copy_out);
VITRINE_KERNEL(_to_dim_order_copy_out, "dim_order_ops::_to_dim_order_copy.out",
               to_dim_order_copy_out);
VITRINE_KERNEL(alias_copy_out, "aten::alias_copy.out", alias_copy_out);
VITRINE_KERNEL(clone_out, "aten::clone.out", clone_out);
VITRINE_KERNEL(copy_, "aten::copy_", copy_);
VITRINE_KERNEL(copy_out, "aten::copy.out", copy_out);
VITRINE_KERNEL(detach_copy_out, "aten::detach_copy.out", alias_copy_out);
VITRINE_KERNEL(et_d2h_copy_out, "et_copy::_d2h_copy.out", alias_copy_out);
VITRINE_KERNEL(et_h2d_copy_out, "et_copy::_h2d_copy.out", alias_copy_out);
VITRINE_KERNEL(lift_fresh_copy_out, "aten::lift_fresh_copy.out", alias_copy_out);

}  // namespace vitrine::portable
