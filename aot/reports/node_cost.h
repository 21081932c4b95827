// What a call costs, from its shapes alone.
#pragma once

#include <cstdint>

#include "aot/graph/graph.h"
#include "aot/graph/symbolic.h"

namespace vitrine::delegation {

// Estimates: they order calls, they do not predict times. Sizes that are not known count with their
// upper bound, and as 1 if they have none; sums stop at the largest number.
struct NodeCost {
  uint64_t flops = 0;  // a multiplication and an addition are two
  uint64_t bytes = 0;  // of the tensors that it reads and writes, weights included
};

// Convolutions and products by their formulas, pooling and reductions by what they read, calls that
// only move data 0, all others an operation an element of their results.
NodeCost cost_of(const aot::Node& call, const aot::RangeConstraints& symbols);

}  // namespace vitrine::delegation
