// Operators of ExecuTorch that change the tensor that is their result.
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/infer_sizes.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// Makes `result`, a tensor, another shape of self's own memory.
void et_view(KernelContext& context, const Tensor& self, std::span<const int64_t> size,
             ChangedTensor result) {
  Tensor& out = *result.tensor;
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

// copy_to[index] = copy_from, where copy_to grows to index + 1 rows: how map and scan collect their
// results. `target` is the operator's result as well as its first argument.
void et_copy_index_tensor(KernelContext& context, ChangedTensor target, const Tensor& copy_from,
                          int64_t index) {
  Tensor& copy_to = *target.tensor;
  if (!copy_to.is_writable()) {
    return context.fail(ErrorCode::kInvalidProgram, "copy_to is a constant or has no memory");
  }
  if (index < 0 || index >= INT32_MAX || copy_to.rank() != copy_from.rank() + 1 ||
      !std::ranges::equal(copy_to.sizes().subspan(1), copy_from.sizes())) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "copy_to, of rank %zu, has no row %lld of the shape of copy_from, of rank %zu",
        copy_to.rank(), static_cast<long long>(index), copy_from.rank());
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

VITRINE_KERNEL(et_view, "executorch_prim::et_view.default", et_view);
VITRINE_KERNEL(et_copy_index_tensor, "executorch_prim::et_copy_index.tensor", et_copy_index_tensor);

}  // namespace vitrine::portable
