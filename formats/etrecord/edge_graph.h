// The serialised edge program of an ETRecord -> EdgeGraph.
#pragma once

#include <string>
#include <string_view>

#include "formats/etrecord/etrecord.h"

namespace vitrine::etrecord {

// `json` is a serialised ExportedProgram (docs/formats/etrecord.md). A call of a lowered module is
// replaced by the nodes of the module's original program. `place` names the text in errors.
EdgeGraph parse_edge_program(std::string_view json, const std::string& place);

// "L['self'].features[0]" as TorchDynamo wrote it, or "features.0" -> "features.0".
std::string normalized_module_path(std::string_view path);

}  // namespace vitrine::etrecord
