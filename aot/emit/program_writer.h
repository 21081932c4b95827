// Serializes a program as a .pte file (docs/formats/program.md).
#pragma once

#include "aot/emit/emit.h"
#include "aot/emit/program_parts.h"

namespace vitrine::aot {

// Omits named data that belong to a .ptd file. Throws AotError if the program is too large.
void write_program(const ProgramParts& parts, const EmitOptions& options, const ByteSink& sink);

}  // namespace vitrine::aot
