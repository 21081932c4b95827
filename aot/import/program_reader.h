// Reads the graph and signature of an exported program from its JSON.
#pragma once

#include "aot/graph/exported_program.h"
#include "base/json.h"

namespace vitrine::aot {

// Reads torch.export's struct ExportedProgram without its weights.
ExportedProgram read_program(const JsonValue& root);

}  // namespace vitrine::aot
