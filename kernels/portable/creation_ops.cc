// Tensors of a shape that is given: of one value, or uninitialised.
#include <cstring>
#include <optional>
#include <span>

#include "kernels/util/dim_order.h"
#include "kernels/util/fill.h"
#include "kernels/util/layout.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void full_out(KernelContext& context, std::span<const int64_t> size, const Scalar& fill_value,
              Tensor& out) {
  if (resize_to(context, out, size)) fill(context, fill_value, out);
}

// memory_format is settled by the output's dim order.
void full_like_out(KernelContext& context, const Tensor& self, const Scalar& fill_value,
                   std::optional<int64_t> /*memory_format*/, Tensor& out) {
  if (context.resize(out, self.sizes())) fill(context, fill_value, out);
}

void scalar_tensor_out(KernelContext& context, const Scalar& s, Tensor& out) {
  full_out(context, {}, s, out);
}

void ones_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  full_out(context, size, int64_t{1}, out);
}

// In every dtype the bytes of zero are zeros.
void zeros_out(KernelContext& context, std::span<const int64_t> size, Tensor& out) {
  if (!resize_to(context, out, size) || out.numel() == 0) return;
  std::memset(out.mutable_raw_data(), 0, out.nbytes());
}

void empty_out(KernelContext& context, std::span<const int64_t> size,
               std::optional<int64_t> /*memory_format*/, Tensor& out) {
  static_cast<void>(resize_to(context, out, size));
}

void empty_dim_order_out(KernelContext& context, std::span<const int64_t> size,
                         std::optional<std::span<const int64_t>> dim_order, Tensor& out) {
  if (check_dim_order(context, dim_order, out)) (void)resize_to(context, out, size);
}

}  // namespace

VITRINE_KERNEL(_empty_dim_order_out, "dim_order_ops::_empty_dim_order.out", empty_dim_order_out);
VITRINE_KERNEL(empty_out, "aten::empty.out", empty_out);
VITRINE_KERNEL(full_like_out, "aten::full_like.out", full_like_out);
VITRINE_KERNEL(full_out, "aten::full.out", full_out);
VITRINE_KERNEL(ones_out, "aten::ones.out", ones_out);
VITRINE_KERNEL(scalar_tensor_out, "aten::scalar_tensor.out", scalar_tensor_out);
VITRINE_KERNEL(zeros_out, "aten::zeros.out", zeros_out);

}  // namespace vitrine::portable
