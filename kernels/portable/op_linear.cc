#include "kernels/util/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                const Tensor* bias, Tensor& out) {
  linear(context, input, weight, bias, out, multiply_matrices);
}

}  // namespace

VITRINE_KERNEL(linear_out, "aten::linear.out", linear_out);

}  // namespace vitrine::portable
