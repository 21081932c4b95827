#include "kernels/util/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void bmm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  bmm(context, self, mat2, out, multiply_matrices);
}

}  // namespace

VITRINE_KERNEL(bmm_out, "aten::bmm.out", bmm_out);

}  // namespace vitrine::portable
