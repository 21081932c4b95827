// Writes one delegate as a separate program file.
#pragma once

#include <memory>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// ExecuTorch's LoweredBackendModule.buffer(): a .pte with one method, "forward", that is one call
// of this delegate, with its inputs and outputs. Throws the AotErrors of emit().
EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options = {});

}  // namespace vitrine::aot
