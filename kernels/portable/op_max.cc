#include <optional>

#include "kernels/util/extremum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void max_dim_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                 Tensor& values, Tensor& indices) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, Extremum::kLargest, self, *mask, keepdim, &values, &indices);
}

void max_unary_out(KernelContext& context, const Tensor& self, Tensor& out) {
  extremum(context, Extremum::kLargest, self, kAllDims, false, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(max_dim_max, "aten::max.dim_max", max_dim_out);
VITRINE_KERNEL(max_unary_out, "aten::max.unary_out", max_unary_out);

}  // namespace vitrine::portable
