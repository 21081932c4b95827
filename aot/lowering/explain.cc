#include "aot/lowering/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "aot/lowering/node_cost.h"

namespace vitrine::delegation {
namespace {

using aot::Node;

struct CostedNode {
  const Node* node = nullptr;
  std::string subgraph;
  NodeCost cost;
};

bool computes(const Node& node) {
  return node.is_call() && node.target().dialect() != aot::Dialect::kPython &&
         node.target().dialect() != aot::Dialect::kHigherOrder;
}

void collect(const aot::Graph& graph, const std::string& subgraph,
             const aot::RangeConstraints& symbols, std::vector<CostedNode>& lines) {
  for (const Node& node : graph.nodes()) {
    if (computes(node)) lines.push_back({&node, subgraph, cost_of(node, symbols)});
  }
  for (const auto& [name, inner] : graph.subgraphs()) {
    collect(*inner, subgraph.empty() ? name : fmt::format("{}.{}", subgraph, name), symbols, lines);
  }
}

std::string cost_text(const NodeCost& cost) {
  return fmt::format("{}, {}", cost.flops ? flops_text(*cost.flops) : "unknown FLOP",
                     bytes_text(cost.bytes));
}

// Returns the innermost line outside torch, such as " (model.py:28)", or else the outermost line.
// Returns "" if the node has no stack trace.
std::string source_line(const Node& node) {
  if (node.meta.origin == nullptr) return "";
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  std::string found;
  std::string_view trace = node.meta.origin->stack_trace;
  for (size_t begin = trace.find(kFile); begin != std::string_view::npos;
       begin = trace.find(kFile)) {
    trace.remove_prefix(begin + kFile.size());
    const size_t end = trace.find(kLine);
    if (end == std::string_view::npos) break;
    std::string_view file = trace.substr(0, end);
    const bool is_torchs = file.find("-packages/torch/") != std::string_view::npos;
    trace.remove_prefix(end + kLine.size());
    if (is_torchs && !found.empty()) continue;
    file.remove_prefix(file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/') + 1);
    found = fmt::format(" ({}:{})", file, trace.substr(0, trace.find_first_not_of("0123456789")));
  }
  return found;
}

// A reason, and the calls that were not delegated for this reason, most expensive first.
struct Reason {
  std::string text;
  NodeCost cost;  // sum over the calls; unknown FLOPs are not included
  std::vector<CostedNode> nodes;
};

bool is_more_expensive(const NodeCost& a, const NodeCost& b) {
  const uint64_t flops = a.flops.value_or(0), others = b.flops.value_or(0);
  return flops != others ? flops > others : a.bytes > b.bytes;
}

uint64_t saturating_sum(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

void add(const NodeCost& cost, NodeCost& sum) {
  if (cost.flops) sum.flops = saturating_sum(sum.flops.value_or(0), *cost.flops);
  sum.bytes = saturating_sum(sum.bytes, cost.bytes);
}

std::string cost_text(const Reason& reason) {
  const bool is_incomplete =
      reason.cost.flops &&
      std::ranges::any_of(reason.nodes, [](const auto& node) { return !node.cost.flops; });
  return (is_incomplete ? "at least " : "") + cost_text(reason.cost);
}

// Returns operators with their numbers of calls: "aten.mm.default, 3 x aten.erf.default".
std::string operators_text(std::span<const CostedNode> nodes) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const CostedNode& node : nodes) {
    const std::string name = node.node->target().name();
    auto found = std::ranges::find(counts, name, &std::pair<std::string, size_t>::first);
    if (found == counts.end()) found = counts.insert(found, {name, 0});
    ++found->second;
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += count == 1 ? name : fmt::format("{} x {}", count, name);
  }
  return text;
}

}  // namespace

std::string why_not_delegated(const Node& node, std::span<const aot::Rejection> rejections) {
  std::vector<std::string> texts;
  for (const aot::Rejection& rejection : rejections) {
    if (rejection.node != &node) continue;
    std::string text = rejection.remedy.empty()
                           ? rejection.rule
                           : fmt::format("{}; remedy: {}", rejection.rule, rejection.remedy);
    if (std::ranges::count(texts, text) == 0) texts.push_back(std::move(text));
  }
  return texts.empty() ? "no partitioner chose it" : fmt::format("{}", fmt::join(texts, ". "));
}

std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_calls) {
  std::vector<CostedNode> nodes;
  collect(*program.graph, "", program.range_constraints, nodes);
  std::ranges::stable_sort(nodes, is_more_expensive, &CostedNode::cost);
  std::vector<Reason> by_reason;
  for (CostedNode& node : nodes) {
    const std::string text = why_not_delegated(*node.node, rejections);
    auto found = std::ranges::find(by_reason, text, &Reason::text);
    if (found == by_reason.end()) found = by_reason.insert(found, {text, {}, {}});
    add(node.cost, found->cost);
    found->nodes.push_back(std::move(node));
  }
  std::ranges::stable_sort(by_reason, is_more_expensive, &Reason::cost);
  std::string text;
  for (const Reason& reason : by_reason) {
    text +=
        fmt::format("{} [{}]: {}\n", operators_text(reason.nodes), cost_text(reason), reason.text);
    if (!with_calls) continue;
    for (const CostedNode& node : reason.nodes) {
      text += fmt::format("    {}{}{} [{}]\n", node.subgraph.empty() ? "" : node.subgraph + ".",
                          node.node->name(), source_line(*node.node), cost_text(node.cost));
    }
  }
  return text;
}

}  // namespace vitrine::delegation
