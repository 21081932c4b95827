#include <array>

#include "kernels/util/checks.h"
#include "kernels/util/infer_sizes.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Makes `result`, a tensor, another shape of self's own memory.
void et_view(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
             EValue& result) {
  if (!result.is_tensor()) {
    context.fail(ErrorCode::kInvalidArgument, "the result is %s, not a Tensor",
                 tag_name(result.tag()));
    return;
  }
  Tensor& out = result.unchecked_tensor();
  if (!check_dtype(context, out, self.dtype(), "the result")) return;
  std::array<int32_t, kMaxRank> storage;
  const auto sizes = infer_sizes(context, size, self.numel(), storage);
  if (!sizes) return;
  if (Error error = out.alias(self, *sizes); !error.ok()) return context.fail(std::move(error));
  if (!(is_row_major(self) && is_row_major(out)) &&
      !(self.same_sizes(out) && self.same_dim_order(out))) {
    context.fail(ErrorCode::kNotSupported, "the dim orders of self and the result allow no view");
  }
}

}  // namespace

VITRINE_KERNEL(et_view, "executorch_prim::et_view.default", et_view);

}  // namespace vitrine::portable
