// Attention that a model spells out as products around a softmax.
#pragma once

#include <optional>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// If `product` is softmax(query x key^T [* scale] [masked]) x value of f32, with dims [batch, head,
// position, value]: a call of aten.scaled_dot_product_attention before it that computes the same.
// Nothing uses that call yet. Null if `product` is something else, or cannot be shown to be one.
Node* attention_of(ExportedProgram& program, Node& product);

}  // namespace vitrine::aot
