// The size list of view: one entry may be -1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vitrine/kernel_context.h"
#include "vitrine/tensor.h"

namespace vitrine {

// `sizes` with -1 replaced so that there are `numel` elements, put into `storage` (of kMaxRank).
// Fails the context if there is no such size, or more than one.
[[nodiscard]] std::optional<std::span<const int32_t>> infer_sizes(KernelContext& context,
                                                                  std::span<const int64_t> sizes,
                                                                  int64_t numel,
                                                                  std::span<int32_t> storage);

}  // namespace vitrine
