// A whole exported model: graph, signature, weights.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aot/graph/graph.h"
#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

using TensorMap = std::map<std::string, TensorData, std::less<>>;

struct InputSpec {
  enum class Kind : uint8_t {
    kUserInput,
    kParameter,
    kBuffer,
    kTensorConstant,
    kCustomObject,
    kToken,
    kConstantInput  // a literal of Python, fixed at export
  };
  Kind kind = Kind::kUserInput;
  std::string name;        // of the placeholder
  std::string target;      // qualified name of the parameter, buffer or constant
  bool persistent = true;  // of buffers: in the state dict, else in the constants
  // A number that lowering lifted out of a call: code rather than a weight.
  bool is_lifted_number = false;
  Argument literal;  // of kConstantInput, and of user inputs that are literals
};

// Parameters, buffers and tensor constants, as opposed to inputs from the caller.
constexpr bool has_data(InputSpec::Kind kind) {
  return kind == InputSpec::Kind::kParameter || kind == InputSpec::Kind::kBuffer ||
         kind == InputSpec::Kind::kTensorConstant;
}

// Weights by the names that the model has for them, as opposed to constants, whose names are made.
constexpr bool is_in_state(const InputSpec& spec) {
  return spec.kind == InputSpec::Kind::kParameter ||
         (spec.kind == InputSpec::Kind::kBuffer && spec.persistent);
}

struct OutputSpec {
  enum class Kind : uint8_t {
    kUserOutput,
    kLossOutput,
    kBufferMutation,
    kParameterMutation,
    kUserInputMutation,
    kGradientToParameter,
    kGradientToUserInput,
    kToken
  };
  Kind kind = Kind::kUserOutput;
  std::string name;    // of the node; empty if it is a literal
  std::string target;  // buffer, parameter or user input
  Argument literal;
};

struct GraphSignature {
  std::vector<InputSpec> inputs;    // one a placeholder, in order
  std::vector<OutputSpec> outputs;  // one an item of the output node, in order
};

struct ModuleCallEntry {
  std::string path;  // "" for the root
  bool has_signature = false;
  std::string in_spec;  // tree specs as JSON text
  std::string out_spec;
  std::vector<std::string> forward_arg_names;
};

struct ExportedProgram {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  GraphSignature signature;
  TensorMap state_dict;  // parameters and persistent buffers
  TensorMap constants;   // tensor constants and other buffers
  RangeConstraints range_constraints;
  std::vector<ModuleCallEntry> module_call_graph;
  std::map<std::string, int64_t, std::less<>> opset_version;
  std::vector<std::string> verifiers;  // "TRAINING", "ATEN"
  std::string torch_version;

  // Graphs are copied, tensors' bytes shared.
  ExportedProgram copy() const;

  const InputSpec* input_of(std::string_view placeholder) const;
  // The weight that a placeholder stands for; null if it stands for none.
  const TensorData* data_of(const InputSpec& spec) const;
  bool is_mutated(const InputSpec& spec) const;
  // Adds a constant, with its placeholder, before the user inputs.
  Node* add_constant(std::string_view name, TensorData data);
  // Removes a placeholder without users and its spec, and its data if no other spec names them.
  void remove_input(Node* placeholder);
};

}  // namespace vitrine::aot
