// The dtype that operands of several dtypes are computed in.
#pragma once

#include <span>

#include "aot/graph/argument.h"

namespace vitrine::aot {

// torch.promote_types; throws AotError where PyTorch refuses the pair.
ScalarType promote(ScalarType a, ScalarType b);
// torch.result_type: tensors with dims outweigh those without, these outweigh numbers, if they are
// of as high a kind (bool, integer, float, complex). f32 of nothing.
ScalarType result_type(std::span<const TensorSpec* const> tensors);
// Tensors and numbers, in the operands' places.
ScalarType result_type(std::span<const Argument> operands);

}  // namespace vitrine::aot
