// A node's metadata strings -> where it comes from.
#pragma once

#include <memory>

#include "aot/graph/node.h"
#include "base/json.h"

namespace vitrine::aot {

// `value` maps keys to strings. Null if it has none of those that Origin keeps.
std::shared_ptr<const Origin> read_origin(const JsonValue& value);

}  // namespace vitrine::aot
