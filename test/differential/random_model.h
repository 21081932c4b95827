// Generates models from a few bytes, each of which is a choice. Models have layers, element-wise
// operators, reductions, views and data movement on f32 tensors of at most 8192 elements. Every
// byte sequence gives a model. Few models produce infinities or NaN.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::test {

struct RandomModel {
  aot::ExportedProgram program;      // all inputs have one shape; inputs and outputs are f32
  std::vector<int32_t> input_sizes;  // upper bounds of the sizes of every input
  size_t num_inputs = 1;
  bool dynamic_batch = false;  // dim 0 of all inputs is dynamic, from 1 to input_sizes[0]
};

RandomModel random_model(std::span<const uint8_t> choices);

}  // namespace vitrine::test
