// Models made of a few bytes, each a choice: layers, element-wise operators, reductions, views and
// data movement on f32 tensors of at most 8192 elements. Any bytes make a model, and few of them
// make infinities or NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::test {

struct RandomModel {
  aot::ExportedProgram program;      // inputs of one shape, f32; outputs f32
  std::vector<int32_t> input_sizes;  // of every input, at most
  size_t num_inputs = 1;
  bool dynamic_batch = false;  // dim 0 of all inputs may be from 1 to input_sizes[0]
};

RandomModel random_model(std::span<const uint8_t> choices);

}  // namespace vitrine::test
