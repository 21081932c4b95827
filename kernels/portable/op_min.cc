#include <optional>

#include "kernels/util/extremum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void min_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 Tensor& values, Tensor& indices) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, Extremum::kSmallest, self, *mask, keepdim, &values, &indices);
}

void min_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  extremum(context, Extremum::kSmallest, self, kAllDims, false, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(min_dim_min, "aten::min.dim_min", min_dim_out);
VITRINE_KERNEL(min_unary_out, "aten::min.unary_out", min_unary_out);

}  // namespace vitrine::portable
