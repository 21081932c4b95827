// Which passes run, in which order: the semantics of ExecuTorch 1.4's to_edge and to_executorch.
#pragma once

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

// Training IR or core ATen -> the edge dialect, with debug handles.
void to_edge(ExportedProgram& program);
// Edge dialect -> what the emitter writes: buffers written back, views shared.
void to_executable(ExportedProgram& program);

}  // namespace vitrine::aot
