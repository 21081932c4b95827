#include "kernels/llm/hadamard.h"
#include "vitrine/kernel.h"

namespace vitrine::llm {

namespace {

void fast_hadamard_transform_out(KernelContext& context, const Tensor& mat, Tensor& out) {
  hadamard_transform(context, mat, out, transform_row);
}

}  // namespace

VITRINE_KERNEL(fast_hadamard_transform_out, "llama::fast_hadamard_transform.out",
               fast_hadamard_transform_out);

}  // namespace vitrine::llm
