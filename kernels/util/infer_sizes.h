#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// Returns `sizes`, with -1 replaced by the size that makes the product equal to `numel`. The result
// is in `storage`, which must have kMaxRank elements. Fails if the product cannot be `numel`, if -1
// occurs more than once, or if every size could replace -1, as in [0,-1].
[[nodiscard]] std::optional<std::span<const int32_t>> infer_sizes(KernelContext& context,
                                                                  std::span<const int64_t> sizes,
                                                                  int64_t numel,
                                                                  std::span<int32_t> storage);

}  // namespace vitrine
