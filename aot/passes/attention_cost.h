// Whether attention takes less time as one operator.
#pragma once

#include "aot/graph/symbolic.h"

namespace vitrine::aot {

struct AttentionShape {
  SymInt queries;
  SymInt keys;
  bool is_causal = false;
  bool reads_part_of_cache = false;  // the keys up to the last query's; products read all
  bool is_delegated = false;         // products and softmax would go to a backend
};

// By measured times of llama::custom_sdpa and of the products (docs/performance.md). False where
// the bounds of the sizes leave it open.
bool pays_as_one_operator(const AttentionShape& shape, const RangeConstraints& ranges);

}  // namespace vitrine::aot
