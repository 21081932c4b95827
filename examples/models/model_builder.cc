#include "examples/models/model_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/operators/infer.h"
#include "examples/models/seeded_weights.h"

namespace vitrine::aot {
namespace {

Node* first_call(Graph& graph) {
  for (Node& node : graph.nodes()) {
    if (node.kind() != Node::Kind::kPlaceholder) return &node;
  }
  return nullptr;
}

// Returns a stack frame in PyTorch's form. Shortens the file's path to its folder and its name.
std::string trace_of(const SourceLocation& location) {
  std::string_view file = location.file_name();
  for (size_t slashes = 0, i = file.size(); i-- > 0;) {
    if (file[i] == '/' && ++slashes == 2) {
      file.remove_prefix(i + 1);
      break;
    }
  }
  std::string_view function = location.function_name();
  function = function.substr(0, function.find('('));
  function = function.substr(function.find_last_of(" :&*") + 1);
  return fmt::format("File \"{}\", line {}, in {}", file, location.line(), function);
}

// Returns the functional variant of an in-place operator. Returns other names unchanged.
std::string functional_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || name[dot - 1] != '_') return std::string(name);
  if (dot >= 2 && name[dot - 2] == '_') return std::string(name);
  return fmt::format("{}{}", name.substr(0, dot - 1), name.substr(dot));
}

// Order of the placeholders: parameters, then buffers, then inputs.
int rank_of(InputSpec::Kind kind) {
  if (kind == InputSpec::Kind::kParameter) return 0;
  return kind == InputSpec::Kind::kBuffer ? 1 : 2;
}

}  // namespace

ModelBuilder::ModelBuilder(std::string type_name, uint64_t seed) : seed_(seed) {
  modules_.push_back({{"L__self__", "", std::move(type_name)}, ""});
  program_.verifiers = {"TRAINING"};
  program_.module_call_graph.push_back({});
}

ModelBuilder::Module ModelBuilder::module(std::string_view name, std::string type_name,
                                          SourceLocation location) {
  const std::string path = qualified(name);
  modules_.push_back(
      {{fmt::format("L__self__{}", path), path, std::move(type_name)}, trace_of(location)});
  return Module(this);
}

std::string ModelBuilder::qualified(std::string_view name) const {
  const std::string& path = modules_.back().entry.path;
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

Node* ModelBuilder::input(std::string_view name, ScalarType dtype, std::vector<SymInt> sizes) {
  Node* node = program_.graph->placeholder(name, first_call(*program_.graph));
  node->meta.value = contiguous_spec(dtype, std::move(sizes));
  InputSpec spec;
  spec.name = node->name();
  program_.signature.inputs.push_back(std::move(spec));
  return node;
}

SymInt ModelBuilder::dynamic_size(int64_t min, int64_t max) {
  if (min < 0 || max < min)
    throw AotError(
        fmt::format("a dynamic size needs bounds 0 <= min <= max, found {} and {}", min, max));
  const std::string name = fmt::format("s{}", program_.range_constraints.size());
  program_.range_constraints[name] = {min, max};
  return SymInt(Expression::symbol(name));
}

Node* ModelBuilder::weight(std::string_view name, InputSpec::Kind kind, TensorData data,
                           bool persistent) {
  const std::string target = qualified(name);
  auto& inputs = program_.signature.inputs;
  if (const auto found = std::ranges::find(inputs, target, &InputSpec::target);
      found != inputs.end()) {
    return program_.graph->find(found->name);
  }
  if (const std::string wrong = data.check(); !wrong.empty()) {
    throw AotError(fmt::format("weight {}: {}", target, wrong));
  }
  InputSpec spec;
  spec.kind = kind;
  spec.target = target;
  spec.persistent = persistent;
  std::string placeholder = (kind == InputSpec::Kind::kParameter ? "p_" : "b_") + target;
  std::ranges::replace(placeholder, '.', '_');
  const auto next = std::ranges::find_if(
      inputs, [&](const InputSpec& other) { return rank_of(other.kind) > rank_of(kind); });
  Node* before =
      next == inputs.end() ? first_call(*program_.graph) : program_.graph->find(next->name);
  Node* node = program_.graph->placeholder(placeholder, before);
  data.requires_grad = kind == InputSpec::Kind::kParameter;
  TensorSpec value = contiguous_spec(data.dtype, {data.sizes.begin(), data.sizes.end()});
  value.strides.assign(data.strides.begin(), data.strides.end());
  value.requires_grad = data.requires_grad;
  node->meta.value = std::move(value);
  spec.name = node->name();
  inputs.insert(next, std::move(spec));
  (persistent ? program_.state_dict : program_.constants).emplace(target, std::move(data));
  return node;
}

Node* ModelBuilder::parameter(std::string_view name, TensorData data) {
  return weight(name, InputSpec::Kind::kParameter, std::move(data), true);
}

Node* ModelBuilder::buffer(std::string_view name, TensorData data, bool persistent) {
  return weight(name, InputSpec::Kind::kBuffer, std::move(data), persistent);
}

Node* ModelBuilder::parameter(std::string_view name, std::vector<int64_t> sizes) {
  int64_t row = 1;
  for (size_t i = 1; i < sizes.size(); ++i) row *= sizes[i];
  const float spread = 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(row, 1)));
  return parameter(name, seeded_weights(qualified(name), seed_, std::move(sizes), spread));
}

Node* ModelBuilder::add_call(Target target, ArgumentList args, ArgumentMap kwargs, Value value,
                             SourceLocation location) {
  Node* node = program_.graph->call(target, std::move(args), std::move(kwargs));
  auto origin = std::make_shared<Origin>();
  std::string trace;
  for (const OpenModule& module : modules_) {
    origin->module_stack.push_back(module.entry);
    if (!module.trace.empty()) trace += module.trace + "\n  ";
  }
  origin->stack_trace = trace + trace_of(location);
  node->meta.origin = std::move(origin);
  node->meta.value = std::move(value);
  return node;
}

Node* ModelBuilder::call(std::string_view target, ArgumentList args, ArgumentMap kwargs,
                         SourceLocation location) {
  Value value;
  try {
    value = infer(Target::of(functional_name(target)), args, kwargs);
  } catch (const AotError& error) {
    throw AotError(fmt::format(
        "{} ({}): {}",
        modules_.back().entry.path.empty() ? "the root module" : modules_.back().entry.path,
        trace_of(location), error.what()));
  }
  return add_call(Target::of(target), std::move(args), std::move(kwargs), std::move(value),
                  location);
}

Node* ModelBuilder::call_as(std::string_view target, ArgumentList args, ArgumentMap kwargs,
                            Value value, SourceLocation location) {
  return add_call(Target::of(target), std::move(args), std::move(kwargs), std::move(value),
                  location);
}

Node* ModelBuilder::item(Node* tuple, size_t index, SourceLocation location) {
  const Value::Items* items = tuple->meta.value.items();
  if (items == nullptr || index >= items->size()) {
    throw AotError(fmt::format("node {} has no result {}", tuple->name(), index));
  }
  return add_call(getitem(), {tuple, static_cast<int64_t>(index)}, {}, (*items)[index], location);
}

ExportedProgram ModelBuilder::finish(const std::vector<Node*>& outputs) {
  ArgumentList results(outputs.begin(), outputs.end());
  program_.graph->set_output(Argument::tuple(std::move(results)));
  for (const Node* output : outputs) {
    OutputSpec spec;
    spec.name = output->name();
    program_.signature.outputs.push_back(std::move(spec));
  }
  lint(program_);
  return std::exchange(program_, ExportedProgram());
}

}  // namespace vitrine::aot
