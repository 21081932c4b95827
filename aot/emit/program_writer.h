// The parts of a program -> the bytes of a .pte file. Format: docs/formats/program.md.
#pragma once

#include "aot/emit/emit.h"
#include "aot/emit/program_parts.h"

namespace vitrine::aot {

// Named data that belong to a .ptd file are left out. The bytes go to `sink` in order. AotError if
// the program is too large for its format.
void write_program(const ProgramParts& parts, const EmitOptions& options, const ByteSink& sink);

}  // namespace vitrine::aot
