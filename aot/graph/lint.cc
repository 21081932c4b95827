#include "aot/graph/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/graph/lowered_module.h"

namespace vitrine::aot {
namespace {

template <class... Args>
[[noreturn]] void fail(const Node& node, fmt::format_string<Args...> text, Args&&... args) {
  throw AotError(
      fmt::format("node {}: {}", node.name(), fmt::format(text, std::forward<Args>(args)...)));
}

void lint_value(const Node& node, const Value& value) {
  if (const TensorSpec* spec = value.tensor()) {
    if (!is_valid(spec->dtype)) fail(node, "has an unknown dtype");
    if (spec->strides.size() != spec->sizes.size()) {
      fail(node, "has {} sizes but {} strides", spec->sizes.size(), spec->strides.size());
    }
    for (const SymInt& size : spec->sizes) {
      if (size.is_static() && size.value() < 0)
        fail(node, "has the negative size {}", size.value());
    }
  }
  if (const Value::Items* items = value.items()) {
    for (const Value& item : *items) lint_value(node, item);
  }
}

void lint_symbols(const Node& node, const Expression& expression, const RangeConstraints& known) {
  if (expression.kind() == Expression::Kind::kSymbol && !known.contains(expression.name()) &&
      !expression.name().starts_with('u') && !expression.name().starts_with("zuf")) {
    fail(node, "uses symbol {}, which has no range", expression.name());
  }
  for (const auto& argument : expression.arguments()) lint_symbols(node, *argument, known);
}

void lint_symbols(const Graph& graph, const RangeConstraints& known) {
  for (const Node& node : graph.nodes()) {
    if (node.tensor() == nullptr) continue;
    for (const SymInt& size : node.tensor()->sizes) {
      if (!size.is_static()) lint_symbols(node, size.expression(), known);
    }
  }
  for (const auto& [name, subgraph] : graph.subgraphs()) lint_symbols(*subgraph, known);
}

void lint_input(const ExportedProgram& program, const Node& node, const InputSpec& spec) {
  if (spec.name != node.name())
    fail(node, "the signature gives this input another name, {}", spec.name);
  if (!has_data(spec.kind)) return;
  const TensorData* data = program.data_of(spec);
  if (data == nullptr) fail(node, "has no data: the program lacks \"{}\"", spec.target);
  const TensorSpec* tensor = node.tensor();
  if (tensor == nullptr) fail(node, "is a weight but not a tensor");
  if (tensor->dtype != data->dtype) {
    fail(node, "has dtype {}, but its data have dtype {}", scalar_type_name(tensor->dtype),
         scalar_type_name(data->dtype));
  }
  if (!std::ranges::equal(tensor->sizes, data->sizes,
                          [](const SymInt& a, int64_t b) { return a == SymInt(b); })) {
    fail(node, "is {}, but its data have the sizes [{}]", to_text(*tensor),
         fmt::join(data->sizes, ", "));
  }
  if (const std::string error = data->check(); !error.empty()) fail(node, "its data {}", error);
}

// Ignores the order of the users, which changes when calls get new arguments.
void lint_users(const Node& node, std::vector<const Node*>& actual) {
  std::vector<const Node*> listed(node.users().begin(), node.users().end());
  if (listed == actual) return;
  if (listed.size() != actual.size()) {
    fail(node, "lists {} users, but {} nodes use it", listed.size(), actual.size());
  }
  std::ranges::sort(listed, std::less<>());
  std::ranges::sort(actual, std::less<>());
  const auto [wrong, user] = std::ranges::mismatch(listed, actual);
  if (user != actual.end()) {
    fail(**user, "is missing from the list of users of {}", node.name());
  }
}

// A call to a lowered module must pass the inputs that the module does not own, and return a tuple
// of the module's results.
void lint_delegate_call(const Graph& graph, const Node& node) {
  const Node* attribute = node.args().empty() ? nullptr : node.args()[0].node();
  const auto found = attribute == nullptr || attribute->kind() != Node::Kind::kGetAttr
                         ? graph.lowered_modules().end()
                         : graph.lowered_modules().find(attribute->attribute());
  if (found == graph.lowered_modules().end())
    fail(node, "its first argument is not a lowered module");
  if (found->second == nullptr) fail(node, "its lowered module {} is null", found->first);
  const GraphSignature& signature = found->second->original.signature;
  const auto num_inputs = std::ranges::count_if(
      signature.inputs, [](const InputSpec& spec) { return !has_data(spec.kind); });
  if (node.args().size() != static_cast<size_t>(num_inputs) + 1) {
    fail(node, "passes {} inputs to {}, which expects {}", node.args().size() - 1, found->first,
         num_inputs);
  }
  const auto results = std::ranges::count_if(signature.outputs, [](const OutputSpec& spec) {
    return spec.kind != OutputSpec::Kind::kBufferMutation;
  });
  const Value::Items* values = node.meta.value.items();
  if (values == nullptr || values->size() != static_cast<size_t>(results)) {
    fail(node, "its value is not a tuple of {} items, one for each result of {}", results,
         found->first);
  }
}

}  // namespace

void lint(const Graph& graph) {
  std::unordered_set<const Node*> before;
  std::unordered_set<std::string_view> names;
  std::unordered_map<const Node*, std::vector<const Node*>> users;
  bool in_placeholders = true;
  for (const Node& node : graph.nodes()) {
    if (&node.graph() != &graph) fail(node, "belongs to another graph");
    if (!names.insert(node.name()).second) fail(node, "has the name of another node");
    if (graph.find(node.name()) != &node) fail(node, "cannot be found by its name");
    const bool is_placeholder = node.kind() == Node::Kind::kPlaceholder;
    if (is_placeholder && !in_placeholders) fail(node, "is a placeholder after a call");
    in_placeholders = in_placeholders && is_placeholder;
    if (node.is_call() && !node.target()) fail(node, "is a call without a target");
    if (node.kind() == Node::Kind::kGetAttr && !graph.subgraphs().contains(node.attribute()) &&
        !graph.tensors().contains(node.attribute()) &&
        !graph.lowered_modules().contains(node.attribute())) {
      fail(node, "reads attribute {}, which the graph does not have", node.attribute());
    }
    if (node.kind() == Node::Kind::kOutput && &node != graph.output()) {
      fail(node, "is a second output node");
    }
    for (const Node* input : node.inputs()) {
      if (!before.contains(input)) fail(node, "uses {} before its definition", input->name());
      users[input].push_back(&node);
    }
    lint_value(node, node.meta.value);
    if (node.is_call() && node.target().is("executorch_call_delegate")) {
      lint_delegate_call(graph, node);
    }
    before.insert(&node);
  }
  if (graph.output() == nullptr) throw AotError("the graph has no output node");
  if (graph.output()->next() != nullptr) fail(*graph.output(), "is not the last node");
  for (const Node& node : graph.nodes()) lint_users(node, users[&node]);
  for (const auto& [name, subgraph] : graph.subgraphs()) {
    try {
      lint(*subgraph);
    } catch (const AotError& error) {
      throw AotError(fmt::format("subgraph {}: {}", name, error.what()));
    }
  }
}

void lint(const ExportedProgram& program) {
  lint(*program.graph);
  const std::vector<Node*> placeholders = program.graph->placeholders();
  if (placeholders.size() != program.signature.inputs.size()) {
    throw AotError(fmt::format("the graph has {} placeholders, but the signature has {} inputs",
                               placeholders.size(), program.signature.inputs.size()));
  }
  for (size_t i = 0; i < placeholders.size(); ++i) {
    lint_input(program, *placeholders[i], program.signature.inputs[i]);
  }
  const Node& output = *program.graph->output();
  const ArgumentList* results = output.need(0).list();
  if (results == nullptr || results->size() != program.signature.outputs.size()) {
    fail(output, "returns {} values, but the signature has {} outputs",
         results == nullptr ? 1 : results->size(), program.signature.outputs.size());
  }
  for (size_t i = 0; i < results->size(); ++i) {
    const OutputSpec& spec = program.signature.outputs[i];
    const Node* result = (*results)[i].node();
    if ((result == nullptr ? std::string() : result->name()) != spec.name) {
      fail(output, "result {} is {}, but the signature calls it \"{}\"", i,
           result == nullptr ? "a literal" : result->name(), spec.name);
    }
  }
  lint_symbols(*program.graph, program.range_constraints);
}

}  // namespace vitrine::aot
