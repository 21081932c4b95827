#include "aot/graph/exported_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {

ExportedProgram ExportedProgram::copy() const {
  ExportedProgram made;
  made.graph = graph->copy();
  made.signature = signature;
  made.state_dict = state_dict;
  made.constants = constants;
  made.range_constraints = range_constraints;
  made.module_call_graph = module_call_graph;
  made.opset_version = opset_version;
  made.verifiers = verifiers;
  made.torch_version = torch_version;
  return made;
}

const InputSpec* ExportedProgram::input_of(std::string_view placeholder) const {
  const auto found = std::ranges::find(signature.inputs, placeholder, &InputSpec::name);
  return found == signature.inputs.end() ? nullptr : &*found;
}

const TensorData* ExportedProgram::data_of(const InputSpec& spec) const {
  if (!has_data(spec.kind)) return nullptr;
  const TensorMap& map = is_in_state(spec) ? state_dict : constants;
  const auto found = map.find(spec.target);
  return found == map.end() ? nullptr : &found->second;
}

bool ExportedProgram::is_mutated(const InputSpec& spec) const {
  return std::ranges::any_of(signature.outputs, [&](const OutputSpec& output) {
    const bool mutates_buffer =
        output.kind == OutputSpec::Kind::kBufferMutation && spec.kind == InputSpec::Kind::kBuffer;
    const bool mutates_parameter = output.kind == OutputSpec::Kind::kParameterMutation &&
                                   spec.kind == InputSpec::Kind::kParameter;
    return (mutates_buffer || mutates_parameter) && output.target == spec.target;
  });
}

Node* ExportedProgram::add_constant(std::string_view name, TensorData data) {
  const auto first_user_input = std::ranges::find_if(signature.inputs, [](const InputSpec& spec) {
    return spec.kind == InputSpec::Kind::kUserInput || spec.kind == InputSpec::Kind::kConstantInput;
  });
  Node* before = nullptr;
  if (first_user_input != signature.inputs.end()) {
    before = graph->find(first_user_input->name);
  } else {
    for (Node& node : graph->nodes()) {
      if (node.kind() == Node::Kind::kPlaceholder) continue;
      before = &node;
      break;
    }
  }
  Node* node = graph->placeholder(name, before);
  std::vector<SymInt> sizes(data.sizes.begin(), data.sizes.end());
  TensorSpec spec = contiguous_spec(data.dtype, std::move(sizes));
  spec.strides.assign(data.strides.begin(), data.strides.end());
  node->meta.value = std::move(spec);
  std::string key(name);
  for (size_t i = 1; constants.contains(key); ++i) key = fmt::format("{}_{}", name, i);
  InputSpec input;
  input.kind = InputSpec::Kind::kTensorConstant;
  input.name = node->name();
  input.target = key;
  signature.inputs.insert(first_user_input, std::move(input));
  constants.emplace(std::move(key), std::move(data));
  return node;
}

void ExportedProgram::remove_input(Node* placeholder) {
  const auto found = std::ranges::find(signature.inputs, placeholder->name(), &InputSpec::name);
  if (found == signature.inputs.end()) {
    throw AotError(fmt::format("node {} is not in the signature", placeholder->name()));
  }
  const InputSpec spec = std::move(*found);
  signature.inputs.erase(found);
  graph->erase(placeholder);
  const bool is_shared = std::ranges::any_of(signature.inputs, [&](const InputSpec& other) {
    return data_of(other) != nullptr && data_of(other) == data_of(spec);
  });
  if (is_shared || data_of(spec) == nullptr) return;
  (is_in_state(spec) ? state_dict : constants).erase(spec.target);
}

}  // namespace vitrine::aot
