#include "kernels/util/checks.h"
#include "kernels/util/indexing.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// The other arguments matter to gradients only.
void embedding_out(KernelContext& context, const Tensor& weight, const Tensor& indices,
                   int64_t padding_idx, bool scale_grad_by_freq, bool sparse, Tensor& out) {
  (void)padding_idx;
  (void)scale_grad_by_freq;
  (void)sparse;
  if (!check_rank(context, weight, 2, "weight")) return;
  take_along(context, weight, 0, indices, Layout(indices), out);
}

}  // namespace

VITRINE_KERNEL(embedding_out, "aten::embedding.out", embedding_out);

}  // namespace vitrine::portable
