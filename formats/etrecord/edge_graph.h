#pragma once

#include <string>
#include <string_view>

#include "formats/etrecord/etrecord.h"

namespace vitrine::etrecord {

// Parses a serialized ExportedProgram of an ETRecord (docs/formats/etrecord.md). Replaces each call
// to a lowered module with the nodes of the module's original program. `location` names the text in
// errors.
EdgeGraph parse_edge_program(std::string_view json, const std::string& location);

// Returns "features.0" for "features.0" and for TorchDynamo's "L['self'].features[0]".
std::string normalized_module_path(std::string_view path);

// Returns the innermost frame of a stack trace as "folder/model.py:167". Skips PyTorch's own files
// if there are other frames. Empty if the text does not contain a frame.
std::string innermost_model_line(std::string_view trace);

}  // namespace vitrine::etrecord
