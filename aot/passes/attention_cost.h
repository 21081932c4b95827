// Predicts if attention is faster as one operator than as matrix products and a softmax.
#pragma once

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

struct AttentionShape {
  SymInt queries;
  SymInt keys;
  bool is_causal = false;
  bool reads_part_of_cache = false;  // reads keys up to the last query; products read all keys
  bool is_delegated = false;         // a backend would execute products and softmax
};

// Decides by measured times of llama::custom_sdpa and of matrix products (docs/performance.md).
// Returns false if the bounds of the sizes do not decide.
bool is_faster_as_operator(const AttentionShape& shape, const RangeConstraints& ranges);

}  // namespace vitrine::aot
