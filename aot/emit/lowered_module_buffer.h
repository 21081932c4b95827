// Writes one delegate as a separate program file.
#pragma once

#include <memory>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// Returns the bytes of a .pte file with a single method, "forward". The method only calls the
// delegate, and it has the same inputs and outputs as the delegate. This function corresponds to
// ExecuTorch's LoweredBackendModule.buffer(). Throws the AotErrors of emit().
EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options = {});

}  // namespace vitrine::aot
