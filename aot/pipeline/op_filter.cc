#include "aot/pipeline/op_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "aot/graph/aot_error.h"

namespace vitrine::aot {
namespace {

// True if `wanted` is one or more adjacent parts of the dotted name `op`: "add" and "add.Tensor"
// match "aten.add.Tensor".
bool matches(std::string_view wanted, std::string_view op) {
  for (size_t at = op.find(wanted); at != std::string_view::npos; at = op.find(wanted, at + 1)) {
    const size_t end = at + wanted.size();
    if ((at == 0 || op[at - 1] == '.') && (end == op.size() || op[end] == '.')) return true;
  }
  return false;
}

bool matches_any(const std::vector<std::string>& wanted, std::string_view op) {
  return std::ranges::any_of(wanted, [&](const std::string& name) { return matches(name, op); });
}

// Replaces the targets of calls to forbidden operators with a target that no backend supports.
void hide(Graph& graph, const OpFilter& filter) {
  for (Node& node : graph.nodes()) {
    if (node.is_call() && node.target() != getitem() && !filter.allows(node.target().name())) {
      node.set_target(Target::of(fmt::format("hidden.{}", node.target().name()), Dialect::kEdge));
    }
  }
  for (auto& [name, subgraph] : graph.subgraphs()) hide(*subgraph, filter);
}

// Copies the delegation tags and rejections of the partitioned `copy` to `graph`.
void copy_results(const Graph& copy, Graph& graph, const OpFilter& filter,
                  std::vector<Rejection>& rejections) {
  for (Node& node : graph.nodes()) {
    const Node* copied = copy.find(node.name());
    node.meta.delegation_tag = copied->meta.delegation_tag;
    const bool is_hidden = node.is_call() && copied->target() != node.target();
    for (Rejection& rejection : rejections) {
      if (rejection.node != copied) continue;
      rejection.node = &node;
      if (is_hidden) {
        rejection.rule = "--only-op or --exclude-op forbids delegating the operator";
        rejection.remedy.clear();
      }
    }
  }
  for (auto& [name, subgraph] : graph.subgraphs()) {
    copy_results(*copy.subgraphs().at(name), *subgraph, filter, rejections);
  }
}

class FilteredPartitioner final : public Partitioner {
 public:
  FilteredPartitioner(std::shared_ptr<const Partitioner> inner, OpFilter filter)
      : inner_(std::move(inner)), filter_(std::move(filter)) {}

  PartitionResult partition(ExportedProgram& program) const override {
    ExportedProgram copy = program.copy();
    hide(*copy.graph, filter_);
    PartitionResult result = inner_->partition(copy);
    copy_results(*copy.graph, *program.graph, filter_, result.rejections);
    return result;
  }

  OpsToKeep ops_to_keep(const ExportedProgram& program) const override {
    OpsToKeep keep = inner_->ops_to_keep(program);
    std::erase_if(keep.targets, [&](const std::string& op) { return !filter_.allows(op); });
    return keep;
  }

 private:
  std::shared_ptr<const Partitioner> inner_;
  OpFilter filter_;
};

}  // namespace

OpFilter::OpFilter(std::vector<std::string> only, std::vector<std::string> excluded)
    : only_(std::move(only)), excluded_(std::move(excluded)) {}

bool OpFilter::allows(std::string_view op) const {
  return (only_.empty() || matches_any(only_, op)) && !matches_any(excluded_, op);
}

void OpFilter::require_known(const std::set<std::string>& operators) const {
  for (const auto& [option, names] :
       {std::pair("--only-op", &only_), std::pair("--exclude-op", &excluded_)}) {
    for (const std::string& name : *names) {
      const bool is_known =
          std::ranges::any_of(operators, [&](const std::string& op) { return matches(name, op); });
      if (is_known) continue;
      throw AotError(fmt::format("{} {}: the model has no such operator; its operators are {}",
                                 option, name, fmt::join(operators, ", ")));
    }
  }
}

std::shared_ptr<const Partitioner> filtered(std::shared_ptr<const Partitioner> partitioner,
                                            const OpFilter& filter) {
  if (filter.is_empty()) return partitioner;
  return std::make_shared<FilteredPartitioner>(std::move(partitioner), filter);
}

}  // namespace vitrine::aot
