// Estimates the cost of a call from its shapes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aot/graph/graph.h"
#include "aot/graph/symbolic.h"

namespace vitrine::delegation {

// An estimate for ranking calls, not for predicting times. A dynamic size counts as its upper
// bound, or as 1 if unbounded. Sums saturate at the maximum.
struct NodeCost {
  std::optional<uint64_t> flops;  // a multiplication and an addition count as two; empty: unknown
  uint64_t bytes = 0;             // size of the tensors that it reads and writes, including weights
};

// Counts FLOPs by the rules of the operator table (operators/flops.h), as profiles do.
NodeCost cost_of(const aot::Node& call, const aot::RangeConstraints& symbols);

std::string flops_text(uint64_t flops);  // "12.5 kFLOP"
std::string bytes_text(uint64_t bytes);  // "3.5 KiB"

}  // namespace vitrine::delegation
