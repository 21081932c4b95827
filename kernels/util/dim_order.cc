#include "kernels/util/dim_order.h"

#include <algorithm>

namespace vitrine {

bool check_dim_order(KernelContext& context, std::optional<std::span<const int64_t>> dim_order,
                     const Tensor& out) {
  if (!dim_order || std::ranges::equal(*dim_order, out.dim_order())) return true;
  context.fail(ErrorCode::kInvalidArgument, "dim_order differs from the dim order of out");
  return false;
}

}  // namespace vitrine
