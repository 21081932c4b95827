#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// copy_to[index] = copy_from, where copy_to grows to index + 1 rows: how map and scan collect their
// results. `target` is the operator's result as well as its first argument.
void et_copy_index_tensor(KernelContext& context, EValue& target, const Tensor& copy_from,
                          int64_t index) {
  if (!target.is_tensor()) {
    context.fail(ErrorCode::kInvalidArgument, "copy_to is %s, not a Tensor",
                 tag_name(target.tag()));
    return;
  }
  Tensor& copy_to = target.unchecked_tensor();
  if (!copy_to.is_writable()) {
    context.fail(ErrorCode::kInvalidProgram, "copy_to is a constant or has no memory");
    return;
  }
  if (index < 0 || index >= INT32_MAX || copy_to.rank() != copy_from.rank() + 1 ||
      !std::ranges::equal(copy_to.sizes().subspan(1), copy_from.sizes())) {
    context.fail(ErrorCode::kInvalidArgument,
                 "copy_to, of rank %zu, has no row %lld of the shape of copy_from, of rank %zu",
                 copy_to.rank(), static_cast<long long>(index), copy_from.rank());
    return;
  }
  if (!check_dtype(context, copy_to, copy_from.dtype(), "copy_to") ||
      !check_contiguous(context, copy_to, "copy_to") ||
      !check_contiguous(context, copy_from, "copy_from")) {
    return;
  }
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(copy_to.sizes(), sizes.begin());
  sizes[0] = static_cast<int32_t>(index + 1);
  if (!context.resize(copy_to, std::span(sizes).first(copy_to.rank())) ||
      !check_data(context, {&copy_to, &copy_from}) || copy_from.numel() == 0) {
    return;
  }
  std::memmove(
      copy_to.unchecked_mutable_data<std::byte>() + static_cast<size_t>(index) * copy_from.nbytes(),
      copy_from.raw_data(), copy_from.nbytes());
}

}  // namespace

VITRINE_KERNEL(et_copy_index_tensor, "executorch_prim::et_copy_index.tensor", et_copy_index_tensor);

}  // namespace vitrine::portable
