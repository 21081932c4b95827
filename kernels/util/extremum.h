// Largest and smallest elements, and where they are.
#pragma once

#include <cstdint>

#include "kernels/util/reduction.h"

namespace vitrine {

enum class Extremum : uint8_t { kLargest, kSmallest };

// `values` (of a dtype that takes self's) and `indices` (Long) may be null. A NaN wins over every
// number; of equals the first wins. An index counts in row-major order within the reduced
// dimensions. InvalidArgument where there is nothing to choose from.
void extremum(KernelContext& context, Extremum which, const Tensor& self, uint32_t mask,
              bool keepdim, Tensor* values, Tensor* indices);

}  // namespace vitrine
