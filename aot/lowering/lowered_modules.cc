#include "aot/lowering/lowered_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {

Target call_delegate() {
  static const Target kCallDelegate = Target::of("executorch_call_delegate", Dialect::kHigherOrder);
  return kCallDelegate;
}

std::vector<LoweredSubmodule> get_lowered_submodules(Graph& graph) {
  std::vector<LoweredSubmodule> found;
  for (Node& node : graph.nodes()) {
    if (!node.calls(call_delegate())) continue;
    const Node* attribute = node.args().empty() ? nullptr : node.args()[0].node();
    const auto module = attribute == nullptr || attribute->kind() != Node::Kind::kGetAttr
                            ? graph.lowered_modules().end()
                            : graph.lowered_modules().find(attribute->attribute());
    if (module == graph.lowered_modules().end()) {
      throw AotError(
          fmt::format("node {}: the first argument is not a lowered module", node.name()));
    }
    found.push_back({module->first, module->second, &node});
  }
  return found;
}

std::vector<std::shared_ptr<const LoweredBackendModule>> get_lowered_backend_modules(Graph& graph) {
  std::vector<std::shared_ptr<const LoweredBackendModule>> modules;
  for (LoweredSubmodule& lowered : get_lowered_submodules(graph)) {
    modules.push_back(std::move(lowered.module));
  }
  return modules;
}

LoweredBackendModule copy(const LoweredBackendModule& module) {
  LoweredBackendModule made;
  made.backend_id = module.backend_id;
  made.payload = module.payload;
  made.compile_specs = module.compile_specs;
  made.original = module.original.copy();
  made.delegate_map = module.delegate_map;
  made.named_data = module.named_data;
  made.input_padding = module.input_padding;
  return made;
}

Node* insert_delegate_call(Graph& graph, std::shared_ptr<const LoweredBackendModule> module,
                           const std::vector<Node*>& inputs, Value::Items values, Node* before) {
  const auto is_taken = [&](const std::string& name) {
    return graph.lowered_modules().contains(name) || graph.subgraphs().contains(name) ||
           graph.tensors().contains(name);
  };
  std::string name;
  for (size_t i = 0; name.empty() || is_taken(name); ++i)
    name = fmt::format("lowered_module_{}", i);
  graph.lowered_modules().emplace(name, std::move(module));
  ArgumentList args = {graph.get_attr(name, before)};
  args.insert(args.end(), inputs.begin(), inputs.end());
  Node* call = graph.call(call_delegate(), std::move(args), {}, before);
  call->meta.value = std::move(values);
  return call;
}

uint32_t max_debug_handle(const Graph& graph) {
  uint32_t max = 0;
  for (const Node& node : graph.nodes()) max = std::max(max, node.meta.debug_handle);
  return max;
}

ExportedProgram delegate_program(const std::shared_ptr<const LoweredBackendModule>& module) {
  const ExportedProgram& original = module->original;
  ExportedProgram program;
  program.range_constraints = original.range_constraints;
  program.module_call_graph = original.module_call_graph;
  program.opset_version = original.opset_version;
  program.verifiers = original.verifiers;
  program.torch_version = original.torch_version;

  std::vector<Node*> inputs;
  for (const Node& node : original.graph->nodes()) {
    if (node.kind() != Node::Kind::kPlaceholder) continue;
    const InputSpec* spec = original.input_of(node.name());
    if (spec == nullptr || has_data(spec->kind)) continue;
    Node* input = program.graph->placeholder(node.name());
    input->meta = node.meta;
    inputs.push_back(input);
    program.signature.inputs.push_back(*spec);
  }

  const ArgumentList& results = *original.graph->output()->need(0).list();
  Value::Items values;
  std::vector<size_t> returned;
  for (size_t i = 0; i < results.size(); ++i) {
    const OutputSpec& output = original.signature.outputs.at(i);
    if (output.kind == OutputSpec::Kind::kBufferMutation) continue;  // handled by the delegate
    returned.push_back(i);
    if (const Node* result = results[i].node()) values.push_back(result->meta.value);
  }
  Node* call = insert_delegate_call(*program.graph, module, inputs, values, nullptr);
  call->meta.debug_handle = max_debug_handle(*original.graph) + 1;

  ArgumentList outputs;
  for (const size_t i : returned) {
    OutputSpec output = original.signature.outputs[i];
    if (results[i].node() == nullptr) {
      outputs.push_back(results[i]);
    } else {
      Node* item = program.graph->call(getitem(), {call, static_cast<int64_t>(outputs.size())});
      item->meta.value = results[i].node()->meta.value;
      output.name = item->name();
      outputs.emplace_back(item);
    }
    program.signature.outputs.push_back(std::move(output));
  }
  program.graph->set_output(Argument::tuple(std::move(outputs)));
  return program;
}

}  // namespace vitrine::aot
