#include "aot/passes/attention_cost.h"

#include <limits>

namespace vitrine::aot {
namespace {

// Products copy keys and values into rows of one head in each run. The operator reads them where
// they are, but multiplies up to 12 % slower: few queries do not repay the copies.
constexpr int64_t kKeysPerQuery = 4;
// Of small kernels the calls cost more than their arithmetic. XNNPACK's calls cost little.
constexpr int64_t kFewQueries = 32;
// The operator leaves out blocks that a causal mask hides.
constexpr int64_t kManyCausalQueries = 128;

}  // namespace

bool pays_as_one_operator(const AttentionShape& shape, const RangeConstraints& ranges) {
  if (shape.reads_part_of_cache) return true;
  const Range queries = bounds(*shape.queries.as_expression(), ranges);
  const Range keys = bounds(*shape.keys.as_expression(), ranges);
  const int64_t most = queries.max.value_or(std::numeric_limits<int64_t>::max());
  if (!shape.is_delegated && most <= kFewQueries) return true;
  if (shape.is_causal && queries.min.value_or(0) >= kManyCausalQueries) return true;
  return most <= keys.min.value_or(0) / kKeysPerQuery;
}

}  // namespace vitrine::aot
