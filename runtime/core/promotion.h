// Type promotion as in PyTorch. Kernels and shape inference use the same rules.
#pragma once

#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// Returns 1 for Bool, 2 for integers, 3 for floating point, 4 for complex. Returns 0 for quantized,
// bits, float8, and unsigned integers of 16 to 64 bits.
int promotion_category(ScalarType type);

// Computes torch.promote_types. Returns nothing for pairs that PyTorch rejects. A dtype of category
// 0 combines only with itself. Exception: unsigned integers of 16 to 64 bits also combine with
// floating-point dtypes.
std::optional<ScalarType> promote_types(ScalarType a, ScalarType b);

}  // namespace vitrine
