#include <optional>
#include <span>

#include "kernels/util/reduction.h"
#include "vitrine/kernel.h"

namespace vitrine::portable {

namespace {

struct Any {
  using In = bool;
  using Results = TypeList<bool>;
  bool any = false;

  void add(std::span<const bool> values) {
    for (const bool value : values) any = any || value;
  }
  void result(bool& out) const { out = any; }
};

void any(KernelContext& context, const Tensor& self, uint32_t mask, bool keepdim, Tensor& out) {
  if (!check_dtype_in<TypeList<bool, uint8_t>>(context, out)) return;
  reduce(context, Any{}, {.common = ScalarType::kBool}, self, mask, keepdim, {&out});
}

void any_all_out(KernelContext& context, const Tensor& self, Tensor& out) {
  any(context, self, kAllDims, false, out);
}

void any_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask = reduced_dim(context, self, dim);
  if (mask) any(context, self, *mask, keepdim, out);
}

// Unlike elsewhere an empty list names no dimensions.
void any_dims_out(KernelContext& context, const Tensor& self,
                  std::optional<std::span<const int64_t>> dim, bool keepdim, Tensor& out) {
  const std::optional<uint32_t> mask =
      dim ? dim_mask(context, *dim, self.rank()) : std::optional(kAllDims);
  if (mask) any(context, self, *mask, keepdim, out);
}

}  // namespace

VITRINE_KERNEL(any_all_out, "aten::any.all_out", any_all_out);
VITRINE_KERNEL(any_dims_out, "aten::any.dims_out", any_dims_out);
VITRINE_KERNEL(any_out, "aten::any.out", any_out);

}  // namespace vitrine::portable
