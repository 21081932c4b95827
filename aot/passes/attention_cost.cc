#include "aot/passes/attention_cost.h"

#include <limits>

namespace vitrine::aot {
namespace {

// With at least this many keys per query, the attention operator is faster: its arithmetic takes up
// to 12 % longer, but matrix products copy the keys and values.
constexpr int64_t kMinKeysPerQuery = 4;
// Up to this number of queries, the overhead of calls exceeds the time of the arithmetic. The
// attention operator makes fewer calls. XNNPACK's calls are cheap, so delegated products are
// exempt.
constexpr int64_t kMaxFewQueries = 32;
// Causal attention with at least this many queries is faster as an operator, which skips the blocks
// that the mask hides.
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
