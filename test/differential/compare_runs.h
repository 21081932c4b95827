// Lowers and runs a model in several configurations, whose results must agree.
#pragma once

#include <string>

#include "test/differential/random_model.h"

namespace vitrine::test {

struct Comparison {
  // Describes the first difference between a configuration and the reference: both values, and the
  // model's graph. The text is empty if all configurations agree.
  std::string difference;
  size_t configurations = 0;  // number of compared configurations
  size_t elements = 0;        // number of elements of all outputs of the reference
  std::string error;          // the AotError if the model cannot be lowered
};

// Compares all configurations with the reference, which uses portable kernels and does not reuse
// the memory of tensors. Inputs follow a formula. Each configuration runs three times. In the
// second run, a dynamic batch has another size.
Comparison compare_runs(const RandomModel& model);

}  // namespace vitrine::test
