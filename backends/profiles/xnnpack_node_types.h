// Relates XNNPACK's node types to ops (docs/formats/xnnpack_payload.md).
#pragma once

#include <string_view>

namespace vitrine::xnnpack {

// Returns true if a call of the op may become a node of this type. `op` is a base name
// ("permute_copy"); `type` is a node type with or without "XNN" ("StaticTranspose").
bool is_op_of_node_type(std::string_view op, std::string_view type);

}  // namespace vitrine::xnnpack
