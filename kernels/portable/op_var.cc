#include <optional>
#include <span>

#include "kernels/util/moments.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void var_correction_out(KernelContext& context, const Tensor& self,
                        std::optional<std::span<const int64_t>> dim,
                        std::optional<Scalar> correction, bool keepdim, Tensor& out) {
  variance(context, self, dim, correction ? correction->to<double>() : 1.0, keepdim, &out, nullptr);
}

void var_out(KernelContext& context, const Tensor& self,
             std::optional<std::span<const int64_t>> dim, bool unbiased, bool keepdim,
             Tensor& out) {
  variance(context, self, dim, unbiased ? 1.0 : 0.0, keepdim, &out, nullptr);
}

void var_mean_correction_out(KernelContext& context, const Tensor& self,
                             std::optional<std::span<const int64_t>> dim,
                             std::optional<Scalar> correction, bool keepdim, Tensor& out0,
                             Tensor& out1) {
  variance(context, self, dim, correction ? correction->to<double>() : 1.0, keepdim, &out0, &out1);
}

}  // namespace

VITRINE_KERNEL(var_correction_out, "aten::var.correction_out", var_correction_out);
VITRINE_KERNEL(var_out, "aten::var.out", var_out);
VITRINE_KERNEL(var_mean_correction_out, "aten::var_mean.correction_out", var_mean_correction_out);

}  // namespace vitrine::portable
