#include <optional>

#include "kernels/util/extremum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void argmin_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, Extremum::kSmallest, self, *mask, keepdim, nullptr, &out);
}

}  // namespace

VITRINE_KERNEL(argmin_out, "aten::argmin.out", argmin_out);

}  // namespace vitrine::portable
