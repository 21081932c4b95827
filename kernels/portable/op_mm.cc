#include "kernels/util/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void mm_out(KernelContext& context, const Tensor& self, const Tensor& mat2, Tensor& out) {
  mm(context, self, mat2, out, multiply_matrices);
}

}  // namespace

VITRINE_KERNEL(mm_out, "aten::mm.out", mm_out);

}  // namespace vitrine::portable
