#include "kernels/util/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void addmm_out(KernelContext& context, const Tensor& self, const Tensor& mat1, const Tensor& mat2,
               const Scalar& beta, const Scalar& alpha, Tensor& out) {
  addmm(context, self, mat1, mat2, beta, alpha, out, multiply_matrices);
}

}  // namespace

VITRINE_KERNEL(addmm_out, "aten::addmm.out", addmm_out);

}  // namespace vitrine::portable
