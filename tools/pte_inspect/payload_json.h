// Describes payloads of backends that Vitrine does not run.
#pragma once

#include <string>
#include <vector>

#include "formats/delegates/delegate_reader.h"
#include "tools/pte_inspect/description.h"

namespace vitrine::tools {

// Returns {"payload": {...}}, or {"error": ...} for a damaged payload (docs/inspecting.md).
Json payload_json(const delegates::PayloadInput& input);

// Returns an operator per line: "[0] aten.relu.default(%3) -> %4 f32[1,8]". If the payload has
// several graphs, a line without a number precedes each graph's operators.
std::vector<std::string> payload_lines(const Json& payload);

}  // namespace vitrine::tools
