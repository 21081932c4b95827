// Runs independent chains of multiply-adds in the widest vectors, to measure the peak arithmetic
// rate. multiply_add.cc has its own compiler flags.
#pragma once

#include <cstddef>

#include "vitrine/scalar_type.h"

namespace vitrine::tools {

struct MultiplyAdd {
  size_t operations = 0;                 // operations in one round; a multiply-add counts as two
  void (*run)(size_t rounds) = nullptr;  // null if the processor has no instruction for the dtype
};

// Returns the widest variant that the processor supports. `dtype` is kFloat, kHalf, kBFloat16
// (summed in f32) or kChar (summed in i32). Every processor supports kFloat.
MultiplyAdd multiply_add(ScalarType dtype);

}  // namespace vitrine::tools
