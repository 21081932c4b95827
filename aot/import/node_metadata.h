// Reads the origin of a node from its metadata strings.
#pragma once

#include <memory>

#include "aot/graph/node.h"
#include "base/json.h"

namespace vitrine::aot {

// Reads the origin from a JSON object of strings. Returns null if the object is empty.
std::shared_ptr<const Origin> read_origin(const JsonValue& value);

}  // namespace vitrine::aot
