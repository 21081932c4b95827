// One method's graph -> values and instructions.
#pragma once

#include <string>

#include "aot/emit/emit.h"
#include "aot/emit/program_parts.h"

namespace vitrine::aot {

// Adds a plan to `parts`, and to its pools what the plan needs. AotErrors name the node.
MethodDebugInfo emit_method(const std::string& name, const ExportedProgram& program,
                            const EmitOptions& options, ProgramParts& parts);

}  // namespace vitrine::aot
