// Replaces a model's attention with llama::custom_sdpa, which never stores the matrix of scores,
// and its cache writes with llama::update_cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct AttentionResult {
  size_t replaced = 0;  // number of replaced calls of attention
  size_t writes = 0;    // number of replaced writes to caches
  // Calls, writes and masks that were not replaced, with reasons.
  std::vector<std::string> kept;
  std::set<std::string> flat_buffers;  // names of the buffers whose sizes changed
};

enum class AttentionChoice : uint8_t {
  kAll,
  kIfFaster,               // if results stay the same and attention_cost.h expects less time
  kIfFasterThanDelegated,  // like kIfFaster, for products that a backend would execute
};

// No pass except inline_wrapped() may have changed `program` since its import.
//
// Replaces attention (aten.scaled_dot_product_attention, or products around a softmax) if
// custom_sdpa supports it, like ExecuTorch's ReplaceSDPAWithCustomSDPAPass but with more checks.
// The operands become [batch, position, head, value]. The mask becomes a float tensor [query, key].
// Repetitions of keys and values for query heads are removed.
//
// Writes to caches in buffers become llama::update_cache (kv_caches.h). If query i sees exactly the
// cached keys up to position p + i, custom_sdpa gets p instead of the mask and skips later keys.
//
// Results differ in two cases. A query whose keys are all masked yields NaN instead of 0, so only
// kAll replaces calls with non-causal masks. A negative position is an error.
AttentionResult replace_attention(ExportedProgram& program,
                                  AttentionChoice choice = AttentionChoice::kAll);

}  // namespace vitrine::aot
