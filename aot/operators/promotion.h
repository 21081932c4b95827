// PyTorch's type promotion: the dtype of a computation on operands of different dtypes.
#pragma once

#include <span>

#include "aot/graph/argument.h"

namespace vitrine::aot {

// Implements torch.promote_types. Throws AotError if PyTorch rejects the pair.
ScalarType promote(ScalarType a, ScalarType b);
// Implements torch.result_type. Tensors with dims have priority over 0-d tensors, and 0-d tensors
// over numbers. An operand of lower priority matters only if its category is higher, in the order
// bool, integer, float, complex. Without operands, returns f32.
ScalarType result_type(std::span<const TensorSpec* const> tensors);
// Implements torch.result_type for tensors and numbers.
ScalarType result_type(std::span<const Argument> operands);

}  // namespace vitrine::aot
