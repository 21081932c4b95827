// Sorting along a dimension.
#pragma once

#include <cstdint>

#include "vitrine/kernel_context.h"

namespace vitrine {

// The first `count` of each line along `dim` (as normalize_dim gives it) in ascending or descending
// order, and their places in the line. Stable; a NaN counts as larger than every number, as in
// PyTorch. `values` has self's dtype (REALHBBF16), `indices` is Long. 0 <= count <= the line's
// length. Takes 16 bytes of temporary memory an element of a line.
void sort_lines(KernelContext& context, const Tensor& self, size_t dim, int64_t count,
                bool descending, Tensor& values, Tensor& indices);

}  // namespace vitrine
