#include <span>

#include "kernels/util/extremum.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void amax_out(KernelContext& context, const Tensor& self, std::span<const int64_t> dim,
              bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dims(context, self, dim);
  if (mask) extremum(context, Extremum::kLargest, self, *mask, keepdim, &out, nullptr);
}

}  // namespace

VITRINE_KERNEL(amax_out, "aten::amax.out", amax_out);

}  // namespace vitrine::portable
