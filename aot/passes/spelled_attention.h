// Recognizes attention that is spelled out as matrix products around a softmax.
#pragma once

#include <optional>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Recognizes softmax(query x key^T [* scale] [masked]) x value in f32, where `product` is the last
// matrix product. The dims are [batch, head, position, value]. Inserts an equivalent call to
// aten.scaled_dot_product_attention before `product`, and returns this call, which has no users
// yet. Returns null if `product` is not known to be attention.
Node* match_spelled_attention(ExportedProgram& program, Node& product);

}  // namespace vitrine::aot
