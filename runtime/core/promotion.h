// The dtype that values of two dtypes are computed in: one rule for kernels and for shape
// inference.
#pragma once

#include <optional>

#include "vitrine/scalar_type.h"

namespace vitrine {

// Bool < integral < floating < complex; 0 for the dtypes that PyTorch does not compute with
// (quantised, bits, float8 and unsigned 16 to 64 bit types).
int promotion_category(ScalarType type);

// torch.promote_types. Nothing if PyTorch refuses the pair: a dtype of category 0 goes with itself
// only, but unsigned integers of 16 to 64 bits go with floating dtypes, too.
std::optional<ScalarType> promote_types(ScalarType a, ScalarType b);

}  // namespace vitrine
