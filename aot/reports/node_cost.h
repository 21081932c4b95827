// Estimates the cost of a call from its shapes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aot/graph/graph.h"
#include "aot/graph/symbolic.h"

namespace vitrine::delegation {

// Estimates for ranking calls, not for predicting times. Unknown sizes count with their upper
// bound, or as 1 if unbounded; sums saturate.
struct NodeCost {
  std::optional<uint64_t> flops;  // a multiplication and an addition are two; nothing if unknown
  uint64_t bytes = 0;             // of the tensors that it reads and writes, weights included
};

// FLOPs are counted by the operator table (operators/flops.h), as in profiles. Those of calls
// without a rule there are unknown.
NodeCost cost_of(const aot::Node& call, const aot::RangeConstraints& symbols);

std::string flops_text(uint64_t flops);  // "12.5 kFLOP"
std::string bytes_text(uint64_t bytes);  // "3.5 KiB"

}  // namespace vitrine::delegation
