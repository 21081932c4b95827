// Finds calls that repeat an earlier call's computation, and calls that depend only on weights.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "aot/passes/auto_functionalized.h"
#include "aot/passes/passes.h"
#include "formats/etrecord/edge_graph.h"
#include "tools/advise/rules.h"

namespace vitrine::tools {
namespace {

using aot::Node;

struct CallList {
  size_t calls = 0;
  std::map<std::string, size_t> ops;
  std::vector<std::string> lines;

  void add(const Node& node) {
    ++calls;
    ++ops[std::string(node.target().op())];
    if (node.meta.origin == nullptr) return;
    std::string line = etrecord::innermost_model_line(node.meta.origin->stack_trace);
    line = line.substr(line.rfind('/') + 1);
    if (!line.empty() && std::ranges::count(lines, line) == 0) lines.push_back(line);
  }

  // Returns "linear x2, relu x1 (model.py:12, model.py:14)".
  std::string text() const {
    constexpr size_t kShown = 4;
    std::string text;
    for (const auto& [op, count] : ops) {
      text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", op, count);
    }
    for (size_t i = 0; i < std::min(lines.size(), kShown); ++i) {
      text += (i == 0 ? " (" : ", ") + lines[i];
    }
    if (lines.size() > kShown) text += ", ...";
    return lines.empty() ? text : text + ")";
  }
};

// True if the call gives equal results for equal arguments and is more than a view.
bool is_computation(const Node& node) {
  if (!node.is_call() || !aot::is_pure(node) || node.tensor() == nullptr) return false;
  if (node.target().dialect() != aot::Dialect::kAten || aot::is_view(node.target())) return false;
  // Shared results would keep backends from recognizing quantized operators.
  if (aot::is_quantization(node.target())) return false;
  const Operator* op = aot::operator_of(node.target());
  return op != nullptr && !op->is_nondeterministic;
}

// Equal calls can have different results if a call of the graph writes memory.
bool has_writes(const aot::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return node.is_call() && (aot::is_in_place(node.target()) || aot::writes_arguments(node));
  });
}

CallList repeated_calls(const aot::Graph& graph) {
  CallList repeated;
  std::unordered_map<const Node*, Node*> first;  // calls with equal results, by the later call
  std::unordered_map<std::string, std::vector<Node*>> seen;
  const auto of_first = [&](Node* node) {
    const auto found = first.find(node);
    return found == first.end() ? node : found->second;
  };
  const auto same_arguments = [&](const Node& a, const Node& b) {
    if (a.args().size() != b.args().size() || a.kwargs().size() != b.kwargs().size()) return false;
    for (size_t i = 0; i < a.args().size(); ++i) {
      if (!(a.args()[i].with_nodes(of_first) == b.args()[i].with_nodes(of_first))) return false;
    }
    for (size_t i = 0; i < a.kwargs().size(); ++i) {
      if (a.kwargs()[i].first != b.kwargs()[i].first) return false;
      if (!(a.kwargs()[i].second.with_nodes(of_first) ==
            b.kwargs()[i].second.with_nodes(of_first))) {
        return false;
      }
    }
    return true;
  };
  // Limits the time for graphs with many different calls of one operator.
  constexpr size_t kMaxCompared = 1000;
  for (const Node& node : graph.nodes()) {
    if (!node.is_call() || !aot::is_pure(node) || node.tensor() == nullptr) continue;
    const Operator* op = aot::operator_of(node.target());
    if (op == nullptr || op->is_nondeterministic) continue;
    std::vector<Node*>& earlier = seen[node.target().name()];
    const auto same = std::ranges::find_if(earlier, [&](const Node* other) {
      return other->meta.value == node.meta.value && same_arguments(*other, node);
    });
    if (same != earlier.end()) {
      first[&node] = *same;
      if (is_computation(node)) repeated.add(node);
    } else if (earlier.size() < kMaxCompared) {
      earlier.push_back(const_cast<Node*>(&node));
    }
  }
  return repeated;
}

CallList constant_calls(const aot::ExportedProgram& program) {
  CallList list;
  std::unordered_set<const Node*> constant;
  for (const Node& node : program.graph->nodes()) {
    if (node.kind() == Node::Kind::kPlaceholder) {
      const aot::InputSpec* spec = program.input_of(node.name());
      const bool is_constant =
          spec != nullptr && aot::has_data(spec->kind) && !program.is_mutated(*spec);
      if (is_constant) constant.insert(&node);
      continue;
    }
    if (!node.is_call() || !aot::is_pure(node) || aot::is_quantization(node.target())) continue;
    const std::vector<Node*> inputs = node.inputs();
    const bool is_constant = !inputs.empty() && std::ranges::all_of(inputs, [&](const Node* input) {
      return constant.contains(input);
    });
    if (!is_constant) continue;
    constant.insert(&node);
    if (is_computation(node)) list.add(node);
  }
  return list;
}

}  // namespace

std::vector<Advice> advise_repeated_calls(const Context& context) {
  if (context.exported == nullptr || has_writes(*context.exported->graph)) return {};
  std::vector<Advice> all;
  const CallList repeated = repeated_calls(*context.exported->graph);
  if (repeated.calls != 0) {
    all.push_back({.name = "optimize",
                   .what = "a graph with fewer calls",
                   .why = fmt::format("{} call{} computed again with the same inputs: {}; compute "
                                      "{} once in the model, or let lowering do it",
                                      repeated.calls, repeated.calls == 1 ? " is" : "s are",
                                      repeated.text(), repeated.calls == 1 ? "it" : "them"),
                   .change = Variant{.lowering = {{"--optimize", ""}}}});
  }
  const CallList constants = constant_calls(*context.exported);
  if (constants.calls != 0) {
    all.push_back(
        {.name = "fold_constants",
         .what = "precompute everything that depends only on weights",
         .why = fmt::format("{} call{} on weights only: {}", constants.calls,
                            constants.calls == 1 ? " depends" : "s depend", constants.text()),
         .change = Variant{.lowering = {{"--fold-constants", ""}}}});
  }
  return all;
}

}  // namespace vitrine::tools
