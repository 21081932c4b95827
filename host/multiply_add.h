// Independent chains of multiply-adds in the processor's widest vectors: the fastest possible
// arithmetic. Built with separate flags.
#pragma once

#include <cstddef>

#include "vitrine/scalar_type.h"

namespace vitrine::tools {

struct MultiplyAdd {
  size_t operations = 0;                 // of one round, two for a multiply-add
  void (*run)(size_t rounds) = nullptr;  // null if the processor has no instruction for the dtype
};

// kFloat, which every processor has; kHalf; kBFloat16, added up in f32; kChar, added up in i32.
MultiplyAdd multiply_add(ScalarType dtype);

}  // namespace vitrine::tools
