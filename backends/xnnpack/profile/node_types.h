// Which ops XNNPACK's node types are made of (docs/formats/xnnpack_blob.md).
#pragma once

#include <string_view>

namespace vitrine::xnnpack {

// `op` is a base name ("permute_copy"), `type` a node type ("StaticTranspose", with or without
// "XNN" in front).
bool is_op_of_node_type(std::string_view op, std::string_view type);

}  // namespace vitrine::xnnpack
