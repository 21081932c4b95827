// Predicts whether attention is faster as a single operator than as matrix products and a softmax.
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

// True if measurements (docs/performance.md) suggest that llama::custom_sdpa is faster than matrix
// products. False if the symbolic sizes allow both answers.
bool is_faster_as_operator(const AttentionShape& shape, const RangeConstraints& ranges);

}  // namespace vitrine::aot
