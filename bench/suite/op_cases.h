// Calls to single operators at several sizes: all operators that XNNPACK supports, and other
// operators with optimized kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "examples/models/model_builder.h"

namespace vitrine::bench {

struct OpCase {
  std::string_view op;    // "add.Tensor", as in backends/xnnpack/runtime/reader/operators.inc
  std::string_view what;  // distinguishes the cases of one operator; may be empty
  // `size` is the number of elements, or a length if multiply_adds is set.
  aot::Node* (*build)(aot::ModelBuilder& build, int64_t size);
  // Returns the number of multiply-adds of a call. If null, the unit of work is an element of the
  // result.
  double (*multiply_adds)(int64_t size) = nullptr;
  bool positive_inputs = false;
  std::span<const int64_t> sizes = {};  // empty: the sizes of all cases of this kind
};

std::span<const OpCase> op_cases();
// Returns the sizes at which a case runs, in ascending order.
std::span<const int64_t> op_sizes(const OpCase& op, bool is_full);

}  // namespace vitrine::bench
