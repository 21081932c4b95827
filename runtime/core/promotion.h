// Type promotion as in PyTorch: chooses the dtype for a computation with values of two dtypes.
// Kernels and shape inference use the same rules.
#pragma once

#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// Returns the category of a dtype: 1 for Bool, 2 for integers, 3 for floating point, 4 for complex.
// Returns 0 for dtypes that have no category in PyTorch's promotion: quantized, bits, float8, and
// unsigned integers of 16 to 64 bits.
int promotion_category(ScalarType type);

// Does the same as torch.promote_types. Returns nothing for pairs that PyTorch rejects. A dtype of
// category 0 can be combined only with itself, with one exception: unsigned integers of 16 to 64
// bits can also be combined with floating-point dtypes.
std::optional<ScalarType> promote_types(ScalarType a, ScalarType b);

}  // namespace vitrine
