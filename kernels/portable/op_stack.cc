
#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/promotion.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

void stack_out(KernelContext& context, std::span<const Tensor* const> tensors, int64_t dim,
               Tensor& out) {
  if (tensors.empty()) {
    context.fail(ErrorCode::kInvalidArgument, "there are no tensors to stack");
    return;
  }
  const Tensor& first = *tensors[0];
  const std::optional<size_t> place = normalize_dim(context, dim, first.rank() + 1);
  if (!place) return;
  Layout result(first);
  result.insert(*place, static_cast<int64_t>(tensors.size()), 0);
  if (!resize_to(context, out, result.size_span())) return;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!can_cast(tensors[i]->dtype(), out.dtype())) {
      context.fail(ErrorCode::kInvalidArgument, "an input of dtype %s does not go into out, of %s",
                   scalar_type_name(tensors[i]->dtype()), scalar_type_name(out.dtype()));
      return;
    }
    Layout part(out);
    part.select(*place, static_cast<int64_t>(i));
    if (!copy_exact(context, *tensors[i], out, part)) return;
  }
}

}  // namespace

VITRINE_KERNEL(stack_out, "aten::stack.out", stack_out);

}  // namespace vitrine::portable
