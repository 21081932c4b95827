// Attention of the model -> llama::custom_sdpa, which never holds all scores at once, over caches
// that llama::update_cache writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct AttentionResult {
  size_t replaced = 0;  // calls of attention
  size_t writes = 0;    // to caches
  // "attention stays: node attention: its mask differs by head"
  std::vector<std::string> kept;
  std::set<std::string> flat_buffers;  // names of those that have other sizes than before
};

enum class AttentionChoice : uint8_t {
  kAll,
  kWherePays,           // where the results stay the same and attention_cost.h expects less time
  kWherePaysDelegated,  // the same, if a backend would get the products
};

// Takes a program as it was imported.
//
// Attention (aten.scaled_dot_product_attention, or products around a softmax) that custom_sdpa
// computes too gets the operands as [batch, position, head, value] and a mask of floats
// [query, key], as by ExecuTorch's ReplaceSDPAWithCustomSDPAPass, with more checks. Keys and values
// that are repeated for each query head are read where they are.
//
// Writes to caches in buffers become llama::update_cache (kv_caches.h). Attention over such a cache
// whose mask shows query i of a call at position p the keys up to p + i, by the graph, gets p in
// the place of the mask, and reads no other keys.
//
// Differs in these respects: a query that is masked everywhere has NaN, not 0 (masks that are not
// causal stay where only some is replaced); a negative position is an error.
AttentionResult replace_attention(ExportedProgram& program,
                                  AttentionChoice which = AttentionChoice::kAll);

}  // namespace vitrine::aot
