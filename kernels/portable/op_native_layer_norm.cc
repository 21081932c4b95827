#include "kernels/util/layer_norm.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void native_layer_norm_out(KernelContext& context, const Tensor& input,
                           std::span<const int64_t> normalized_shape, const Tensor* weight,
                           const Tensor* bias, double eps, Tensor& out0, Tensor& out1,
                           Tensor& out2) {
  layer_norm(context, input, normalized_shape, weight, bias, eps, out0, out1, out2, normalize_rows);
}

}  // namespace

VITRINE_KERNEL(native_layer_norm_out, "aten::native_layer_norm.out", native_layer_norm_out);

}  // namespace vitrine::portable
