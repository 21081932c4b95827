#include <optional>

#include "kernels/util/extremum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void argmax_out(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) extremum(context, Extremum::kLargest, self, *mask, keepdim, nullptr, &out);
}

}  // namespace

VITRINE_KERNEL(argmax_out, "aten::argmax.out", argmax_out);

}  // namespace vitrine::portable
