// One delegate -> a program file of its own.
#pragma once

#include <memory>

#include "aot/emit/emit.h"

namespace vitrine::aot {

// ExecuTorch's LoweredBackendModule.buffer(): a .pte with one method, "forward", that is one call
// of this delegate, with its inputs and outputs. AotErrors as of emit().
EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options = {});

}  // namespace vitrine::aot
