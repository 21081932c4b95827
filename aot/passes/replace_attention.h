// Attention of the model -> llama::custom_sdpa, which never holds all scores at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct AttentionResult {
  size_t replaced = 0;
  std::vector<std::string> kept;  // "node attention: its mask differs by head"
};

// Of a program as it was imported. ExecuTorch's ReplaceSDPAWithCustomSDPAPass, with more checks: a
// call of aten.scaled_dot_product_attention that custom_sdpa computes too gets the operands as
// [batch, position, head, value] and a mask of floats [query, key]. Keys and values that are
// repeated for each query head are read where they are. Differs in one respect: a query that is
// masked everywhere has NaN, not 0.
AttentionResult replace_attention(ExportedProgram& program);

}  // namespace vitrine::aot
