#include <optional>

#include "kernels/util/fill.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// memory_format is settled by the output's dim order.
void full_like_out(KernelContext& context, const Tensor& self, const Scalar& fill_value,
                   std::optional<int64_t> /*memory_format*/, Tensor& out) {
  if (context.resize(out, self.sizes())) fill(context, fill_value, out);
}

}  // namespace

VITRINE_KERNEL(full_like_out, "aten::full_like.out", full_like_out);

}  // namespace vitrine::portable
