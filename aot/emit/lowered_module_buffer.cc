#include "aot/emit/lowered_module_buffer.h"

#include "aot/lowering/lowered_modules.h"
#include "aot/passes/pipelines.h"

namespace vitrine::aot {

EmittedProgram lowered_module_buffer(const std::shared_ptr<const LoweredBackendModule>& module,
                                     const EmitOptions& options) {
  Methods methods;
  to_executable(methods.emplace("forward", delegate_program(module)).first->second);
  return emit(methods, options);
}

}  // namespace vitrine::aot
