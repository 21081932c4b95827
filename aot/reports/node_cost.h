// Estimates the cost of a call from its shapes alone.
#pragma once

#include <cstdint>
#include <string>

#include "aot/graph/graph.h"
#include "aot/graph/symbolic.h"

namespace vitrine::delegation {

// Estimates for ranking calls, not for predicting times. Unknown sizes count with their upper
// bound, or as 1 if unbounded; sums saturate.
struct NodeCost {
  uint64_t flops = 0;  // a multiplication and an addition are two
  uint64_t bytes = 0;  // of the tensors that it reads and writes, weights included
};

// FLOPs are counted by the operator table (operators/flops.h); of calls without a rule there, as
// one for each element of the first result.
NodeCost cost_of(const aot::Node& call, const aot::RangeConstraints& symbols);

std::string flops_text(uint64_t flops);  // "12.5 kFLOP"
std::string bytes_text(uint64_t bytes);  // "3.5 KiB"

}  // namespace vitrine::delegation
