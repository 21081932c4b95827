// Writes one delegate as a separate program file.
#pragma once

#include <memory>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// Returns the bytes of a .pte file with a single method, "forward". The method calls this delegate,
// and it has the delegate's inputs and outputs. The equivalent of ExecuTorch's
// LoweredBackendModule.buffer(). Throws the AotErrors of emit().
EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options = {});

}  // namespace vitrine::aot
