#include "kernels/util/element_copy.h"
#include "kernels/util/infer_sizes.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void view_copy_out(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
                   Tensor& out) {
  std::array<int32_t, kMaxRank> storage;
  const auto sizes = infer_sizes(context, size, self.numel(), storage);
  if (sizes && context.resize(out, *sizes)) copy_reshaped(context, self, out);
}

}  // namespace

VITRINE_KERNEL(view_copy_out, "aten::view_copy.out", view_copy_out);

}  // namespace vitrine::portable
