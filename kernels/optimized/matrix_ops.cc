#include "kernels/optimized/matrix_product.h"
#include "vitrine/kernel.h"

namespace vitrine::optimized {

VITRINE_KERNEL(addmm_out, "aten::addmm.out", addmm_out<multiply_matrices>);
VITRINE_KERNEL(bmm_out, "aten::bmm.out", bmm_out<multiply_matrices>);
VITRINE_KERNEL(linear_out, "aten::linear.out", linear_out<multiply_matrices>);
VITRINE_KERNEL(mm_out, "aten::mm.out", mm_out<multiply_matrices>);

}  // namespace vitrine::optimized
