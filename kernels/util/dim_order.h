#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Fails if `dim_order` differs from the dim order of `out`.
[[nodiscard]] bool check_dim_order(KernelContext& context,
                                   std::optional<std::span<const int64_t>> dim_order,
                                   const Tensor& out);

}  // namespace vitrine
