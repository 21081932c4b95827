// PyTorch's type promotion: the dtype of a computation on operands of different dtypes.
#pragma once

#include <span>

#include "aot/graph/argument.h"

namespace vitrine::aot {

// Implements torch.promote_types. Throws AotError if PyTorch rejects the pair.
ScalarType promote(ScalarType a, ScalarType b);
// Implements torch.result_type. Tensors with dims have priority over 0-d tensors, which have
// priority over numbers. Operands of a lower priority change the dtype only if the category of
// their dtype is higher. The categories are, in ascending order, bool, integer, float and complex.
// Without operands, returns f32.
ScalarType result_type(std::span<const TensorSpec* const> tensors);
// Implements torch.result_type for operands that are tensors or numbers.
ScalarType result_type(std::span<const Argument> operands);

}  // namespace vitrine::aot
