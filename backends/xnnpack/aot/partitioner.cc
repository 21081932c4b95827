#include "backends/xnnpack/aot/partitioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_set>

#include "aot/graph/aot_error.h"
#include "aot/lowering/partition_nodes.h"
#include "backends/xnnpack/aot/operator_table.h"
#include "backends/xnnpack/aot/xnnpack_backend.h"

namespace vitrine::aot {
namespace {

using xnnpack::Candidate;
using xnnpack::Parameters;
using Groups = std::vector<std::vector<Node*>>;

struct Matches {
  Groups groups;
  std::map<const Node*, Rejection> rejections;
};

std::string_view reason_for_python_call(const Node& node) {
  return node.calls(getitem()) ? "it reads a result of a call that is not delegated"
                               : "it does not belong to a delegated call";
}

Matches match(const Parameters& parameters, Graph& graph,
              const XnnpackPartitioner::Options& options) {
  Matches matches;
  for (Node& node : graph.nodes()) {
    if (!node.is_call()) continue;
    const Candidate candidate{parameters, node, options.precisions, options.allows_dynamic_weights,
                              options.enable_bf16};
    std::optional<Rejection> rejection = xnnpack::check(candidate);
    if (rejection) {
      matches.rejections.emplace(&node, std::move(*rejection));
    } else {
      matches.groups.push_back(xnnpack::group_of(candidate));
    }
  }
  return matches;
}

std::vector<NodePartition> partition_each(const Groups& groups) {
  std::vector<NodePartition> partitions;
  std::unordered_set<const Node*> taken;
  for (const std::vector<Node*>& group : groups) {
    NodePartition partition;
    partition.id = partitions.size();
    for (Node* node : group) {
      if (!node->is_call()) continue;
      if (!taken.insert(node).second) {
        throw AotError(
            fmt::format("node {}: it is in two matches of the XNNPACK partitioner", node->name()));
      }
      partition.nodes.push_back(node);
    }
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

// Tags the partitions of all graphs. Each tag is unique in the program.
class Tagging {
 public:
  Tagging(const ExportedProgram& program, const XnnpackPartitioner::Options& options,
          std::shared_ptr<const Backend> backend)
      : parameters_(program), options_(options), backend_(std::move(backend)) {}

  PartitionResult run(Graph& graph) {
    tag(graph);
    visit_branches(graph);
    return std::move(result_);
  }

 private:
  void visit_branches(Graph& graph) {
    for (auto& [name, branch] : graph.subgraphs()) {
      if (options_.in_branches) {
        tag(*branch);
      } else {
        each_call(*branch, [&](Node& node) {
          reject(node, {"it is in a branch of control flow", "enable branches in the partitioner"});
        });
      }
      visit_branches(*branch);
    }
  }

  void tag(Graph& graph) {
    const Matches matches = match(parameters_, graph, options_);
    PartitionNodesOptions forming;
    // Without this step, two groups that share a weight would become one partition.
    for (const std::vector<Node*>& group : matches.groups) {
      std::vector<Node*>& calls = forming.groups.emplace_back();
      std::ranges::copy_if(group, std::back_inserter(calls),
                           [](const Node* node) { return node->is_call(); });
    }
    const std::vector<NodePartition> partitions =
        options_.per_op ? partition_each(matches.groups) : partition_nodes(graph, {}, forming);
    const size_t first = next_tag_;
    for (const NodePartition& partition : partitions) {
      const std::string tag = fmt::format("tag{}", first + partition.id);
      next_tag_ = std::max(next_tag_, first + partition.id + 1);
      result_.tags.emplace(tag, DelegationSpec{backend_, {}});
      for (Node* node : partition.nodes) node->meta.delegation_tag = tag;
    }
    // A weight gets the tag of the first delegated group that contains the weight.
    for (const std::vector<Node*>& group : matches.groups) {
      const std::string& tag = group.front()->meta.delegation_tag;
      for (Node* node : group) {
        if (!node->is_call() && node->meta.delegation_tag.empty()) node->meta.delegation_tag = tag;
      }
    }
    each_call(graph, [&](Node& node) {
      if (node.meta.delegation_tag.empty()) reject(node, reason_for_rejection(node, matches));
    });
  }

  static Rejection reason_for_rejection(const Node& node, const Matches& matches) {
    const auto rejection = matches.rejections.find(&node);
    if (rejection == matches.rejections.end()) {
      return {"it must be fused with another call, but a call between them is not delegated", ""};
    }
    if (node.target().dialect() == Dialect::kPython)
      return {std::string(reason_for_python_call(node)), ""};
    return rejection->second;
  }

  void reject(const Node& node, Rejection rejection) {
    rejection.node = &node;
    result_.rejections.push_back(std::move(rejection));
  }

  template <class Visit>
  static void each_call(Graph& graph, Visit&& visit) {
    for (Node& node : graph.nodes()) {
      if (node.is_call()) visit(node);
    }
  }

  const Parameters parameters_;
  const XnnpackPartitioner::Options& options_;
  std::shared_ptr<const Backend> backend_;
  PartitionResult result_;
  size_t next_tag_ = 0;
};

}  // namespace

XnnpackPartitioner::XnnpackPartitioner(const Options& options)
    : options_(options), backend_(std::make_shared<XnnpackBackend>()) {}

PartitionResult XnnpackPartitioner::partition(ExportedProgram& program) const {
  return Tagging(program, options_, backend_).run(*program.graph);
}

OpsToKeep XnnpackPartitioner::ops_to_keep(const ExportedProgram& program) const {
  OpsToKeep keep;
  for (const xnnpack::Operator& each : xnnpack::operators()) {
    if (each.rule.keep) keep.targets.push_back(fmt::format("aten.{}", each.op));
  }
  keep.keeps = [parameters = std::make_shared<const Parameters>(program),
                options = options_](const Node& node) {
    if (!options.in_branches && !parameters->is_outermost(node)) return false;
    // The const_cast is safe: check() only reads the node.
    Node& checked = const_cast<Node&>(node);
    return !xnnpack::check({*parameters, checked, options.precisions,
                            options.allows_dynamic_weights, options.enable_bf16});
  };
  return keep;
}

}  // namespace vitrine::aot
