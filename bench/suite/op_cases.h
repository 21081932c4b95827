// Operator calls of several sizes: all operators that XNNPACK supports, and others with optimized
// kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "examples/models/model_builder.h"

namespace vitrine::bench {

struct OpCase {
  std::string_view op;    // "add.Tensor", as in backends/xnnpack/runtime/reader/operators.inc
  std::string_view what;  // distinguishes several cases of one operator; may be empty
  // Builds the call. `size` is a number of elements, or a length if the operator multiplies and
  // adds.
  aot::Node* (*build)(aot::ModelBuilder& build, int64_t size);
  // Returns the multiply-adds of a call; null: the work is counted in elements of the result.
  double (*multiply_adds)(int64_t size) = nullptr;
  bool positive_inputs = false;
  std::span<const int64_t> sizes = {};  // empty: the sizes of all cases of this kind
};

std::span<const OpCase> op_cases();
// Returns the sizes at which a case runs, ascending.
std::span<const int64_t> op_sizes(const OpCase& op, bool is_full);

}  // namespace vitrine::bench
