// The operators that multiply matrices.
#include "kernels/util/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  mm(context, self, mat2, out, multiply_matrices);
}

void bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  bmm(context, self, mat2, out, multiply_matrices);
}

void addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  addmm(context, self, mat1, mat2, beta, alpha, out, multiply_matrices);
}

void linear_out(KernelContext& context, const Tensor& input, const Tensor& weight,
                const Tensor* bias, Tensor& out) {
  linear(context, input, weight, bias, out, multiply_matrices);
}

}  // namespace

VITRINE_KERNEL(addmm_out, "aten::addmm.out", addmm_out);
VITRINE_KERNEL(bmm_out, "aten::bmm.out", bmm_out);
VITRINE_KERNEL(linear_out, "aten::linear.out", linear_out);
VITRINE_KERNEL(mm_out, "aten::mm.out", mm_out);

}  // namespace vitrine::portable
