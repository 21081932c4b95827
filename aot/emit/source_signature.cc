#include "aot/emit/source_signature.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vitrine::aot {
namespace {

using nlohmann::ordered_json;

// The JSON keys for one kind of input or output. `target` is the key of the qualified name or null.
template <class Kind>
struct SpecKind {
  Kind kind;
  const char* tag;
  const char* target;
};
using Input = InputSpec::Kind;
constexpr SpecKind<Input> kInputKinds[] = {
    {Input::kParameter, "parameter", "parameter_name"},
    {Input::kBuffer, "buffer", "buffer_name"},
    {Input::kTensorConstant, "tensor_constant", "tensor_constant_name"},
    {Input::kCustomObject, "custom_obj", "custom_obj_name"},
    {Input::kToken, "token", nullptr}};
using Output = OutputSpec::Kind;
constexpr SpecKind<Output> kOutputKinds[] = {
    {Output::kBufferMutation, "buffer_mutation", "buffer_name"},
    {Output::kParameterMutation, "parameter_mutation", "parameter_name"},
    {Output::kUserInputMutation, "user_input_mutation", "user_input_name"},
    {Output::kGradientToParameter, "gradient_to_parameter", "parameter_name"},
    {Output::kGradientToUserInput, "gradient_to_user_input", "user_input_name"},
    {Output::kToken, "token", nullptr},
    {Output::kLossOutput, "loss_output", nullptr}};

// Returns null if `kinds` does not contain the kind of `spec`.
template <class Kinds, class Spec>
ordered_json named_json(const Kinds& kinds, const Spec& spec, const std::string& name) {
  const auto found = std::ranges::find(kinds, spec.kind, [](const auto& row) { return row.kind; });
  if (found == std::end(kinds)) return {};
  ordered_json content = {{"arg", {{"name", name}}}};
  if (found->target != nullptr) content[found->target] = spec.target;
  return union_json(found->tag, std::move(content));
}

ordered_json input_json(const InputSpec& spec, const Graph& graph, SourceValues& values) {
  ordered_json named = named_json(kInputKinds, spec, spec.name);
  if (spec.kind == Input::kBuffer) named["buffer"]["persistent"] = spec.persistent;
  if (!named.is_null()) return named;
  if (spec.kind == Input::kConstantInput) {
    return union_json("constant_input",
                      {{"name", spec.name}, {"value", values.argument(spec.literal)}});
  }
  const Node* node = graph.find(spec.name);
  const bool is_literal = node == nullptr || !spec.literal.is_none();
  return union_json("user_input", {{"arg", is_literal ? values.argument(spec.literal)
                                                      : values.reference(*node)}});
}

ordered_json output_json(const OutputSpec& spec, const Graph& graph, SourceValues& values) {
  const Node* node = graph.find(spec.name);
  ordered_json named =
      named_json(kOutputKinds, spec, node == nullptr ? spec.name : values.name_of(*node));
  if (!named.is_null()) return named;
  return union_json("user_output", {{"arg", node == nullptr ? values.argument(spec.literal)
                                                            : values.reference(*node)}});
}

}  // namespace

ordered_json signature_json(const ExportedProgram& program, SourceValues& values) {
  ordered_json inputs = ordered_json::array();
  for (const InputSpec& spec : program.signature.inputs) {
    inputs.push_back(input_json(spec, *program.graph, values));
  }
  ordered_json outputs = ordered_json::array();
  for (const OutputSpec& spec : program.signature.outputs) {
    outputs.push_back(output_json(spec, *program.graph, values));
  }
  return {{"input_specs", std::move(inputs)}, {"output_specs", std::move(outputs)}};
}

}  // namespace vitrine::aot
