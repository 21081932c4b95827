// Modules that backends have compiled, as parts of graphs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// torch.ops.higher_order.executorch_call_delegate: (lowered module, inputs...) -> results
Target call_delegate();

struct LoweredSubmodule {
  std::string name;  // "lowered_module_0"
  std::shared_ptr<const LoweredBackendModule> module;
  Node* call = nullptr;
};

// The modules of this graph, not of its subgraphs, in the order of the calls. AotErrors name calls
// whose first argument is not a lowered module.
std::vector<LoweredSubmodule> get_lowered_submodules(Graph& graph);
std::vector<std::shared_ptr<const LoweredBackendModule>> get_lowered_backend_modules(Graph& graph);

// Copies the graph; shares weights and processed bytes, which are immutable.
LoweredBackendModule copy(const LoweredBackendModule& module);

// Puts the module into the graph under the first free name "lowered_module_<n>" and calls it before
// `before`. The value of the call is the tuple of `values`; its debug handle is 0.
Node* insert_delegate_call(Graph& graph, std::shared_ptr<const LoweredBackendModule> module,
                           const std::vector<Node*>& inputs, Value::Items values, Node* before);

// The largest debug handle of the graph, without subgraphs; 0 without handles.
uint32_t max_debug_handle(const Graph& graph);

// ExecuTorch's LoweredBackendModule.program(): a program that is one call of this delegate, with
// the user inputs and user outputs of the module's original program. Emitting it gives a program
// file that runs only this delegate.
ExportedProgram delegate_program(const std::shared_ptr<const LoweredBackendModule>& module);

}  // namespace vitrine::aot
