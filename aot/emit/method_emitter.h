// Translates the graph of a method into values and instructions.
#pragma once

#include <string>

#include "aot/emit/emit.h"
#include "aot/emit/program_parts.h"

namespace vitrine::aot {

// Adds the method's plan and data to `parts`. Throws AotErrors that name the node.
MethodDebugInfo emit_method(const std::string& name, const ExportedProgram& program,
                            const EmitOptions& options, ProgramParts& parts);

}  // namespace vitrine::aot
