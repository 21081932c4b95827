// Reads the graph and signature of an exported program from its JSON.
#pragma once

#include "aot/graph/exported_program.h"
#include "base/json.h"

namespace vitrine::aot {

// Reads an exported program without its weights. `root` is the ExportedProgram struct of
// torch.export's schema.
ExportedProgram read_program(const JsonValue& root);

}  // namespace vitrine::aot
