// Which operators take tensors where users may write numbers, and how they promote dtypes.
#pragma once

#include <cstdint>
#include <string_view>

#include "aot/graph/node.h"
#include "aot/shapes/promotion.h"

namespace vitrine::aot {

enum class Promotion : uint8_t {
  kNone,        // the kernel takes mixed dtypes
  kDefault,     // the common dtype of the operands
  kIntToFloat,  // that, or f32 if it is integral
};

struct TensorOperands {
  std::string_view name;
  uint32_t operands;  // bit i: argument i is a tensor
  Promotion promotion;
};

// Null if the operator takes no number in a tensor's place.
const TensorOperands* tensor_operands(Target target);

}  // namespace vitrine::aot
