// Writes one delegate as a separate program file.
#pragma once

#include <memory>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// Returns a .pte file whose only method, "forward", calls the delegate, like ExecuTorch's
// LoweredBackendModule.buffer(). Throws the AotErrors of emit().
EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options = {});

}  // namespace vitrine::aot
