#include <algorithm>

#include "kernels/util/checks.h"
#include "kernels/util/element_copy.h"
#include "kernels/util/promotion.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

bool check_can_hold(KernelContext& context, const Tensor& input, const Tensor& out) {
  if (can_cast(input.dtype(), out.dtype())) return true;
  context.fail(ErrorCode::kInvalidArgument,
               "an input of dtype %s cannot be stored in out of dtype %s",
               scalar_type_name(input.dtype()), scalar_type_name(out.dtype()));
  return false;
}

// PyTorch allows empty 1-d tensors among tensors of any shape.
bool is_skipped(const Tensor& tensor) { return tensor.rank() == 1 && tensor.numel() == 0; }

void cat_out(KernelContext& context, std::span<const Tensor* const> tensors, int64_t dim,
             Tensor& out) {
  if (tensors.empty()) {
    return context.fail(ErrorCode::kInvalidArgument, "cat needs at least one tensor");
  }
  const auto shaped = std::ranges::find_if_not(
      tensors, is_skipped, [](auto* t) -> auto& { return *t; });
  const Tensor& first = shaped == tensors.end() ? *tensors[0] : **shaped;
  if (first.rank() == 0) {
    return context.fail(ErrorCode::kInvalidArgument, "0-d tensors cannot be concatenated");
  }
  const std::optional<size_t> axis = normalize_dim(context, dim, first.rank());
  if (!axis) return;
  Layout result(first);
  result.sizes[*axis] = 0;
  for (const Tensor* const& tensor : tensors) {
    if (!check_can_hold(context, *tensor, out)) return;
    if (is_skipped(*tensor)) continue;
    bool fits = tensor->rank() == first.rank();
    for (size_t i = 0; fits && i < first.rank(); ++i) {
      fits = i == *axis || tensor->size(i) == first.size(i);
    }
    if (!fits) {
      return context.fail(ErrorCode::kInvalidArgument,
                          "input %zu must match the first input's shape except in dimension %zu",
                          static_cast<size_t>(&tensor - tensors.data()), *axis);
    }
    result.sizes[*axis] += tensor->size(*axis);
  }
  if (!resize_to(context, out, result.size_span())) return;
  int64_t start = 0;
  for (const Tensor* tensor : tensors) {
    if (is_skipped(*tensor)) continue;
    Layout part(out);
    part.narrow(*axis, start, tensor->size(*axis));
    if (!copy_elements(context, *tensor, Layout(*tensor), out, part)) return;
    start += tensor->size(*axis);
  }
}

void stack_out(KernelContext& context, std::span<const Tensor* const> tensors, int64_t dim,
               Tensor& out) {
  if (tensors.empty()) {
    return context.fail(ErrorCode::kInvalidArgument, "stack needs at least one tensor");
  }
  const Tensor& first = *tensors[0];
  const std::optional<size_t> axis = normalize_dim(context, dim, first.rank() + 1);
  if (!axis) return;
  Layout result(first);
  result.insert(*axis, static_cast<int64_t>(tensors.size()), 0);
  if (!resize_to(context, out, result.size_span())) return;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!check_can_hold(context, *tensors[i], out)) return;
    Layout part(out);
    part.select(*axis, static_cast<int64_t>(i));
    if (!copy_exact(context, *tensors[i], out, part)) return;
  }
}

}  // namespace

VITRINE_KERNEL(cat_out, "aten::cat.out", cat_out);
VITRINE_KERNEL(stack_out, "aten::stack.out", stack_out);

}  // namespace vitrine::portable
