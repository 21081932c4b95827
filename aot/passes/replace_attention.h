// Replaces a model's attention with llama::custom_sdpa, which never stores the full matrix of
// scores. Replaces the model's cache writes with llama::update_cache.
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
  // Calls, writes and masks that were not replaced, with reasons: "attention not replaced: node
  // attention: its mask differs by head or batch".
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
// Replaces attention (aten.scaled_dot_product_attention, or products around a softmax) that
// custom_sdpa can compute. The operands become [batch, position, head, value]. The mask becomes a
// float tensor [query, key]. ExecuTorch's ReplaceSDPAWithCustomSDPAPass does the same with fewer
// checks. If the model repeats keys and values for each query head, custom_sdpa reads them without
// the repetition.
//
// Writes to caches in buffers become llama::update_cache (kv_caches.h). If the graph shows that
// query i sees exactly the cached keys up to position p + i, custom_sdpa gets p instead of the
// mask. It then does not read later keys.
//
// Results differ in two cases. A query whose keys are all masked yields NaN instead of 0. For this
// reason, only kAll replaces calls with non-causal masks. A negative position is an error.
AttentionResult replace_attention(ExportedProgram& program,
                                  AttentionChoice choice = AttentionChoice::kAll);

}  // namespace vitrine::aot
