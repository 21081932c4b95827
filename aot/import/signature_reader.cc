#include "aot/import/signature_reader.h"

#include <array>
#include <string_view>

namespace vitrine::aot {
namespace {

template <class Kind>
struct Variant {
  std::string_view name;
  Kind kind;
  const char* target;  // the field that names the weight or input; null if the variant lacks it
};

constexpr std::array kInputs = {
    Variant<InputSpec::Kind>{"user_input", InputSpec::Kind::kUserInput, nullptr},
    Variant<InputSpec::Kind>{"parameter", InputSpec::Kind::kParameter, "parameter_name"},
    Variant<InputSpec::Kind>{"buffer", InputSpec::Kind::kBuffer, "buffer_name"},
    Variant<InputSpec::Kind>{"tensor_constant", InputSpec::Kind::kTensorConstant,
                             "tensor_constant_name"},
    Variant<InputSpec::Kind>{"custom_obj", InputSpec::Kind::kCustomObject, "custom_obj_name"},
    Variant<InputSpec::Kind>{"token", InputSpec::Kind::kToken, nullptr},
    Variant<InputSpec::Kind>{"constant_input", InputSpec::Kind::kConstantInput, nullptr},
};

constexpr std::array kOutputs = {
    Variant<OutputSpec::Kind>{"user_output", OutputSpec::Kind::kUserOutput, nullptr},
    Variant<OutputSpec::Kind>{"loss_output", OutputSpec::Kind::kLossOutput, nullptr},
    Variant<OutputSpec::Kind>{"buffer_mutation", OutputSpec::Kind::kBufferMutation, "buffer_name"},
    Variant<OutputSpec::Kind>{"parameter_mutation", OutputSpec::Kind::kParameterMutation,
                              "parameter_name"},
    Variant<OutputSpec::Kind>{"user_input_mutation", OutputSpec::Kind::kUserInputMutation,
                              "user_input_name"},
    Variant<OutputSpec::Kind>{"gradient_to_parameter", OutputSpec::Kind::kGradientToParameter,
                              "parameter_name"},
    Variant<OutputSpec::Kind>{"gradient_to_user_input", OutputSpec::Kind::kGradientToUserInput,
                              "user_input_name"},
    Variant<OutputSpec::Kind>{"token", OutputSpec::Kind::kToken, nullptr},
};

template <class Variants>
auto variant_of(const Variants& variants, const JsonValue& value) {
  const auto [name, content] = value.variant();
  for (const auto& variant : variants) {
    if (variant.name == name) return std::pair(variant, content);
  }
  value.fail(fmt::format("unknown kind {}", name));
}

// Specs of user inputs and outputs contain an Argument union instead of a name.
bool is_argument(InputSpec::Kind kind) { return kind == InputSpec::Kind::kUserInput; }
bool is_argument(OutputSpec::Kind kind) { return kind == OutputSpec::Kind::kUserOutput; }

// Reads an argument that must be a literal, because the signature may outlive the graph's values.
Argument read_literal(const JsonValue& value, GraphReader& graph) {
  Argument literal = graph.argument(value);
  literal.for_each_node([&](const Node* node) {
    value.fail(fmt::format("expected a literal, found value {}", node->name()));
  });
  return literal;
}

InputSpec read_input(const JsonValue& value, size_t index, GraphReader& graph) {
  const auto [variant, content] = variant_of(kInputs, value);
  InputSpec spec;
  spec.kind = variant.kind;
  const Node* placeholder = graph.input(index);
  spec.name = placeholder->name();
  if (variant.target != nullptr) spec.target = content.at(variant.target).string();
  if (variant.kind == InputSpec::Kind::kConstantInput) {
    spec.literal = read_literal(content.at("value"), graph);
    return spec;
  }
  const JsonValue arg = content.at("arg");
  if (is_argument(variant.kind)) {
    const Argument named = graph.argument(arg);
    if (named.node() == nullptr) {
      spec.literal = read_literal(arg, graph);
    } else if (named.node() != placeholder) {
      arg.fail(fmt::format("is {}, but the graph's input {} is {}", named.node()->name(), index,
                           placeholder->name()));
    }
  } else if (graph.value_of(arg.at("name")) != placeholder) {
    arg.fail(fmt::format("is {}, but the graph's input {} is {}", arg.at("name").string(), index,
                         placeholder->name()));
  }
  if (variant.kind == InputSpec::Kind::kBuffer && content.has("persistent")) {
    spec.persistent = content.at("persistent").boolean();
  }
  return spec;
}

OutputSpec read_output(const JsonValue& value, GraphReader& graph) {
  const auto [variant, content] = variant_of(kOutputs, value);
  OutputSpec spec;
  spec.kind = variant.kind;
  if (variant.target != nullptr) spec.target = content.at(variant.target).string();
  const JsonValue arg = content.at("arg");
  const Argument result =
      is_argument(variant.kind) ? graph.argument(arg) : Argument(graph.value_of(arg.at("name")));
  if (const Node* node = result.node()) {
    spec.name = node->name();
  } else {
    spec.literal = read_literal(arg, graph);
  }
  return spec;
}

}  // namespace

std::vector<std::string> read_literal_names(const JsonValue& input_specs) {
  std::vector<std::string> names;
  input_specs.each_item([&](const JsonValue& value) {
    const auto [variant, content] = variant_of(kInputs, value);
    const bool is_literal = variant.kind == InputSpec::Kind::kConstantInput;
    names.push_back(is_literal ? content.at("name").string() : "");
  });
  return names;
}

GraphSignature read_signature(const JsonValue& signature, GraphReader& graph) {
  GraphSignature made;
  signature.at("input_specs").each_item([&](const JsonValue& value) {
    made.inputs.push_back(read_input(value, made.inputs.size(), graph));
  });
  signature.at("output_specs").each_item([&](const JsonValue& value) {
    made.outputs.push_back(read_output(value, graph));
  });
  return made;
}

}  // namespace vitrine::aot
