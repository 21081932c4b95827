#pragma once

#include <string_view>

namespace vitrine::xnnpack {

// Returns true if a call of the op may become a node of this type
// (docs/formats/xnnpack_payload.md). `op` is a base name, such as "permute_copy". `type` is a node
// type with or without the prefix "XNN", such as "StaticTranspose".
bool is_op_of_node_type(std::string_view op, std::string_view type);

}  // namespace vitrine::xnnpack
