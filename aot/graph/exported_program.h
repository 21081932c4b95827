// An exported program: graph, signature and weights of a model.
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
    kConstantInput  // a Python literal, fixed at export
  };
  Kind kind = Kind::kUserInput;
  std::string name;        // name of the placeholder
  std::string target;      // qualified name of the parameter, buffer or constant
  bool persistent = true;  // true for buffers in the state dict, false for buffers in the constants
  // True if lowering made this input from a number in the model's code.
  bool is_lifted_number = false;
  Argument literal;  // for kConstantInput, and for user inputs that are literals
};

// True for parameters, buffers and tensor constants, which the program stores.
constexpr bool has_data(InputSpec::Kind kind) {
  return kind == InputSpec::Kind::kParameter || kind == InputSpec::Kind::kBuffer ||
         kind == InputSpec::Kind::kTensorConstant;
}

// True for parameters and persistent buffers, which are in the state dict.
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
  std::string name;    // name of the node; empty for a literal
  std::string target;  // the buffer, parameter or user input that the output writes, if any
  Argument literal;
};

struct GraphSignature {
  std::vector<InputSpec> inputs;    // one per placeholder, in order
  std::vector<OutputSpec> outputs;  // one per item of the output node, in order
};

struct ModuleCallEntry {
  std::string path;  // empty for the root
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

  // A copy has its own graph, but shares the bytes of the tensors.
  ExportedProgram copy() const;

  const InputSpec* input_of(std::string_view placeholder) const;
  // Returns the data of a weight. Returns null for other inputs, or if the program lacks the data.
  const TensorData* data_of(const InputSpec& spec) const;
  // True if the program has an output that updates the input's buffer or parameter.
  bool is_mutated(const InputSpec& spec) const;
  // Adds a constant, and inserts its placeholder before the user inputs. Returns the placeholder.
  Node* add_constant(std::string_view name, TensorData data);
  // Removes a placeholder without users, its spec, and its data unless another input uses the data.
  void remove_input(Node* placeholder);
};

}  // namespace vitrine::aot
