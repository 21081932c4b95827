#include "aot/optimize/fold_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/graph/lint.h"
#include "aot/optimize/evaluate.h"

namespace vitrine::aot {
namespace {

// True if the call transposes a matrix, as in linear layers.
bool is_transposition(const Node& node) {
  return node.target().is("aten.permute_copy.default") && node.tensor() != nullptr &&
         node.tensor()->rank() == 2;
}

// Returns the size of a value in bytes, or 0 if the size is unknown.
uint64_t bytes_of(const Value& value) {
  uint64_t bytes = 0;
  if (const TensorSpec* spec = value.tensor()) {
    bytes = element_size(spec->dtype);
    for (const SymInt& size : spec->sizes) {
      if (!size.is_static() ||
          __builtin_mul_overflow(bytes, static_cast<uint64_t>(size.value()), &bytes)) {
        return 0;
      }
    }
  } else if (const Value::Items* items = value.items()) {
    for (const Value& item : *items) bytes += bytes_of(item);
  }
  return bytes;
}

bool is_static(const Value& value) {
  if (const TensorSpec* spec = value.tensor()) return spec->is_static();
  const Value::Items* items = value.items();
  return items != nullptr && std::ranges::all_of(*items, is_static);
}

bool is_weight(const ExportedProgram& program, const Node& node) {
  if (node.kind() != Node::Kind::kPlaceholder) return false;
  const InputSpec* spec = program.input_of(node.name());
  return spec != nullptr && program.data_of(*spec) != nullptr && !program.is_mutated(*spec);
}

class Folder {
 public:
  Folder(ExportedProgram& program, const FoldOptions& options)
      : program_(program), options_(options) {}

  size_t run() {
    for (Node& node : program_.graph->nodes()) {
      if (is_weight(program_, node) || may_fold(node)) known_.insert(&node);
    }
    drop_growing_calls();
    find_results();
    if (results_.empty()) return 0;
    replace(evaluate(program_of_results()));
    const size_t before = program_.graph->nodes().size();
    program_.graph->remove_dead_code();
    const size_t folded = before - program_.graph->nodes().size();
    for (Node* input : program_.graph->placeholders()) {
      if (input->users().empty() && is_weight(program_, *input)) program_.remove_input(input);
    }
    lint(program_);
    return folded;
  }

 private:
  bool may_fold(const Node& node) {
    if (!node.is_call() || !is_pure(node) || !is_static(node.meta.value)) return false;
    const Target target = node.target();
    if (options_.keep_quantization && is_quantization(target)) return false;
    if (options_.keep_transpositions && is_transposition(node)) return false;
    if (!(target == getitem()) &&
        (!has_kernel(target) || target.is_declared() || operator_of(target)->is_nondeterministic)) {
      return false;
    }
    const std::vector<Node*> inputs = node.inputs();
    if (!all_known(inputs)) return false;
    if (inputs.empty()) inputless_.insert(&node);
    return true;
  }

  template <class Nodes>
  bool all_known(const Nodes& nodes) const {
    return std::ranges::all_of(nodes, [&](const Node* node) { return known_.contains(node); });
  }

  // Removes from `known_` the calls whose results are too large, and all calls that depend on them.
  void drop_growing_calls() {
    for (Node& node : program_.graph->nodes()) {
      if (!known_.contains(&node)) continue;
      if (!node.is_call()) {
        sizes_[&node] = all_known(node.users()) ? bytes_of(node.meta.value) : 0;
      } else if (!stays_small(node)) {
        known_.erase(&node);
      }
    }
  }

  bool stays_small(const Node& node) {
    const std::vector<Node*> inputs = node.inputs();
    if (!all_known(inputs)) return false;
    uint64_t input_bytes = 0;
    for (const Node* input : inputs) input_bytes += sizes_[input];
    const uint64_t bytes = bytes_of(node.meta.value);
    if (bytes > input_bytes && bytes - input_bytes > options_.max_growth) return false;
    sizes_[&node] = node.target() == getitem() ? input_bytes : std::max(input_bytes, bytes);
    return true;
  }

  // Collects the calls in `known_` whose results have users outside `known_`.
  void find_results() {
    for (Node& node : program_.graph->nodes()) {
      if (!node.is_call() || !known_.contains(&node) || inputless_.contains(&node)) continue;
      if (node.tensor() == nullptr) continue;
      const bool is_needed = std::ranges::any_of(
          node.users(), [&](const Node* user) { return !known_.contains(user); });
      if (is_needed) results_.push_back(&node);
    }
  }

  // Makes a program that computes the nodes in `results_`.
  ExportedProgram program_of_results() {
    ExportedProgram part = program_.copy();
    ArgumentList outputs;
    part.signature.outputs.clear();
    for (const Node* result : results_) {
      outputs.emplace_back(part.graph->find(result->name()));
      OutputSpec spec;
      spec.name = result->name();
      part.signature.outputs.push_back(std::move(spec));
    }
    part.graph->output()->set_args({Argument::tuple(std::move(outputs))});
    // Removes each node that no output needs. remove_dead_code() would keep nodes with effects.
    Node* previous = nullptr;
    for (Node* node = part.graph->output()->previous(); node != nullptr; node = previous) {
      previous = node->previous();
      const bool is_input = node->kind() == Node::Kind::kPlaceholder;
      if (!is_input && node->users().empty()) part.graph->erase(node);
    }
    part.graph->subgraphs().clear();
    for (Node* input : part.graph->placeholders()) {
      if (input->users().empty()) part.remove_input(input);
    }
    return part;
  }

  void replace(std::vector<TensorData> values) {
    for (size_t i = 0; i < results_.size(); ++i) {
      Node& result = *results_[i];
      const TensorSpec spec = *result.tensor();
      if (values.at(i).dtype != spec.dtype || values[i].sizes.size() != spec.rank()) {
        throw AotError(fmt::format(
            "node {}: the computed value differs in dtype or rank from the graph", result.name()));
      }
      std::string name;
      do {
        name = fmt::format("_prop_tensor_constant{}", number_++);
      } while (program_.constants.contains(name));
      Node* constant = program_.add_constant(name, std::move(values[i]));
      for (OutputSpec& output : program_.signature.outputs) {
        if (output.name == result.name()) output.name = constant->name();
      }
      result.replace_all_uses_with(constant);
    }
  }

  ExportedProgram& program_;
  const FoldOptions& options_;
  std::unordered_set<const Node*> known_;      // weights, and calls whose inputs are known
  std::unordered_set<const Node*> inputless_;  // calls without tensor inputs
  // Sizes of the nodes in `known_`, in bytes. The size of a call is that of its result or of all
  // its inputs together, whichever is larger. A getitem call has the size of its input. The size of
  // a weight is 0 if it has users outside `known_`.
  std::unordered_map<const Node*, uint64_t> sizes_;
  std::vector<Node*> results_;
  size_t number_ = 0;
};

}  // namespace

size_t fold_constants(ExportedProgram& program, const FoldOptions& options) {
  try {
    return Folder(program, options).run();
  } catch (const AotError& error) {
    throw AotError(fmt::format("fold_constants: {}", error.what()));
  }
}

}  // namespace vitrine::aot
