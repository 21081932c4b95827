// Calls of operators, by size: of each that XNNPACK takes, and of those whose kernels are measured.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "aot/builder/model_builder.h"

namespace vitrine::bench {

struct OpCase {
  std::string_view op;    // as backends/xnnpack/format/operators.inc has it: "add.Tensor"
  std::string_view what;  // tells several cases of one operator apart; may be empty
  // Builds the call; `size` is a number of elements, or of products the length of a side.
  aot::Node* (*build)(aot::ModelBuilder& build, int64_t size);
  // Multiply-adds at a size; null: the operator moves data, and elements of the result count.
  double (*multiply_adds)(int64_t size) = nullptr;
  bool positive_inputs = false;
};

std::span<const OpCase> op_cases();
// Ascending, for cases that count elements or lengths.
std::span<const int64_t> op_sizes(const OpCase& op, bool is_full);

}  // namespace vitrine::bench
