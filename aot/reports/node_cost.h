// Estimates the cost of a call from its shapes alone.
#pragma once

#include <cstdint>

#include "aot/graph/graph.h"
#include "aot/graph/symbolic.h"

namespace vitrine::delegation {

// Estimates for ranking calls, not for predicting times. Unknown sizes count with their upper
// bound, or as 1 if unbounded; sums saturate.
struct NodeCost {
  uint64_t flops = 0;  // a multiplication and an addition are two
  uint64_t bytes = 0;  // of the tensors that it reads and writes, weights included
};

// Convolutions and products count by their formulas, pooling and reductions by the elements they
// read, calls that only move data 0, all others one operation per element of the results.
NodeCost cost_of(const aot::Node& call, const aot::RangeConstraints& symbols);

}  // namespace vitrine::delegation
