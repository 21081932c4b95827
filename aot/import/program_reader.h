// The JSON of an exported program -> graph and signature.
#pragma once

#include "aot/graph/exported_program.h"
#include "base/json.h"

namespace vitrine::aot {

// All but the weights. `root` is the ExportedProgram struct.
ExportedProgram read_program(const JsonValue& root);

}  // namespace vitrine::aot
