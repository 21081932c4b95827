#include "aot/passes/attention_cost.h"

#include <limits>

namespace vitrine::aot {
namespace {

// The attention operator is faster if there are at least this many keys per query. The operator
// saves the copies of keys and values that matrix products need, but its multiplications take up to
// 12 % longer. With few queries, the saved copies outweigh the slower multiplications.
constexpr int64_t kMinKeysPerQuery = 4;
// Up to this number of queries, the overhead of a kernel call exceeds the time of its arithmetic.
// The attention operator needs fewer calls and is therefore faster. XNNPACK's calls are cheap, so
// this does not apply to delegated products.
constexpr int64_t kMaxFewQueries = 32;
// With a causal mask and at least this many queries, the attention operator is faster, because it
// skips the blocks that the mask hides.
constexpr int64_t kMinCausalQueries = 128;

}  // namespace

bool is_faster_as_operator(const AttentionShape& shape, const RangeConstraints& ranges) {
  if (shape.reads_part_of_cache) return true;
  const Range queries = bounds(*shape.queries.as_expression(), ranges);
  const Range keys = bounds(*shape.keys.as_expression(), ranges);
  const int64_t max_queries = queries.max.value_or(std::numeric_limits<int64_t>::max());
  if (!shape.is_delegated && max_queries <= kMaxFewQueries) return true;
  if (shape.is_causal && queries.min.value_or(0) >= kMinCausalQueries) return true;
  return max_queries <= keys.min.value_or(0) / kMinKeysPerQuery;
}

}  // namespace vitrine::aot
