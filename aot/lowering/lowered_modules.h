// Finds, adds and wraps calls to modules that backends have compiled.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aot/graph/lowered_module.h"

namespace vitrine::aot {

// Returns torch.ops.higher_order.executorch_call_delegate: (lowered module, inputs...) -> results.
Target call_delegate();

struct LoweredSubmodule {
  std::string name;  // "lowered_module_0"
  std::shared_ptr<const LoweredBackendModule> module;
  Node* call = nullptr;
};

// Returns the lowered modules that this graph calls, in order. Ignores subgraphs. Throws an
// AotError that names the call if the call's first argument is not a lowered module.
std::vector<LoweredSubmodule> get_lowered_submodules(Graph& graph);
std::vector<std::shared_ptr<const LoweredBackendModule>> get_lowered_backend_modules(Graph& graph);

// Copies the module with its original graph. The copy shares the immutable weights and payload.
LoweredBackendModule copy(const LoweredBackendModule& module);

// Adds the module to the graph as "lowered_module_<n>", and inserts a call before the node
// `before`. `values` describes the results of the call. The call's debug handle is 0.
Node* insert_delegate_call(Graph& graph, std::shared_ptr<const LoweredBackendModule> module,
                           const std::vector<Node*>& inputs, Value::Items values, Node* before);

// Returns the largest debug handle in the graph, or 0 without handles. Ignores subgraphs.
uint32_t max_debug_handle(const Graph& graph);

// Returns a program that only calls this delegate, with the same inputs and outputs. The equivalent
// of ExecuTorch's LoweredBackendModule.program().
ExportedProgram delegate_program(const std::shared_ptr<const LoweredBackendModule>& module);

}  // namespace vitrine::aot
