#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/util/checks.h"
#include "kernels/util/infer_sizes.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

// `result` becomes a view of self's memory.
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
    context.fail(ErrorCode::kNotSupported, "self cannot be viewed with the result's dim order");
  }
}

// Resizes copy_to to index + 1 rows and sets copy_to[index] = copy_from, to collect the results of
// map and scan. Row 0 determines the shape of all rows. As in ExecuTorch, a static copy_to that has
// row `index` keeps its size. `target` contains copy_to.
void et_copy_index_tensor(KernelContext& context, ChangedTensor target, const Tensor& copy_from,
                          int64_t index) {
  Tensor& copy_to = *target.tensor;
  if (!copy_to.is_writable()) {
    return context.fail(ErrorCode::kInvalidProgram, "copy_to is a constant or has no memory");
  }
  const bool has_rank = copy_to.rank() == copy_from.rank() + 1;
  const bool has_shape =
      has_rank && std::ranges::equal(copy_to.sizes().subspan(1), copy_from.sizes());
  if (index < 0 || index >= INT32_MAX || !has_rank || (index > 0 && !has_shape)) {
    return context.fail(
        ErrorCode::kInvalidArgument,
        "copy_to of rank %zu cannot hold copy_from of rank %zu in row %lld: the shapes differ",
        copy_to.rank(), copy_from.rank(), static_cast<long long>(index));
  }
  if (!check_dtype(context, copy_to, copy_from.dtype(), "copy_to") ||
      !check_contiguous(context, copy_to, "copy_to") ||
      !check_contiguous(context, copy_from, "copy_from")) {
    return;
  }
  std::array<int32_t, kMaxRank> sizes;
  std::ranges::copy(copy_from.sizes(), sizes.begin() + 1);
  sizes[0] = static_cast<int32_t>(index + 1);
  const bool keeps_size =
      has_shape && copy_to.dynamism() == ShapeDynamism::kStatic && index < copy_to.size(0);
  if ((!keeps_size && !context.resize(copy_to, std::span(sizes).first(copy_to.rank()))) ||
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
