// Lowers a model in several ways and runs it in several, which must all agree.
#pragma once

#include <string>

#include "test/differential/random_model.h"

namespace vitrine::test {

struct Comparison {
  // Where a way differs from the reference, with both values and the model's graph; empty if all
  // agree.
  std::string difference;
  size_t ways = 0;      // that were compared
  size_t elements = 0;  // of all outputs of the reference
  std::string refused;  // the AotError, if the model cannot be lowered
};

// The reference: portable kernels, and a place in memory for every tensor. Inputs follow a formula.
// Every way runs three times, a dynamic batch with another size the second time.
Comparison compare_ways(const RandomModel& model);

}  // namespace vitrine::test
