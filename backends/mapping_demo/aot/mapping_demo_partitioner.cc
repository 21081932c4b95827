#include <fmt/format.h>

#include <unordered_set>

#include "aot/lowering/constant_tags.h"
#include "aot/lowering/partition_nodes.h"
#include "aot/shapes/call.h"
#include "backends/mapping_demo/aot/mapping_demo.h"
#include "backends/mapping_demo/aot/patterns.h"

namespace vitrine::mapping_demo {
namespace {

using aot::Graph;
using aot::Node;

class Tagger {
 public:
  explicit Tagger(aot::ExportedProgram& program) : program_(program) {}

  aot::PartitionResult run() {
    tag(*program_.graph);
    aot::tag_constants(program_);
    return std::move(result_);
  }

 private:
  void tag(Graph& graph) {
    std::unordered_set<const Node*> supported;
    aot::PartitionNodesOptions options;
    for (Node& node : graph.nodes()) {
      if (is_convolution(node)) {
        if (accepts(node, refusal_of_conv_relu(program_, node))) {
          options.groups.push_back({&node, node.users()[0]});
        }
      } else if (is_tan(node)) {
        if (accepts(node, refusal_of_tan(node))) supported.insert(&node);
      } else if (is_relu(node)) {
        const Node* before = aot::Call(node).optional_node("self");
        const bool is_fused = before != nullptr && is_convolution(*before) &&
                              !refusal_of_conv_relu(program_, *before);
        if (!is_fused) refuse(node, {"it does not follow a delegated convolution", ""});
      } else if (node.is_call() && !node.calls(aot::getitem())) {
        refuse(node, {"the mapping demo supports convolution with relu, and tan", ""});
      }
    }
    // Tags are the program's: those of subgraphs count on.
    for (const aot::NodePartition& partition : partition_nodes(graph, supported, options)) {
      const std::string name = fmt::format("tag{}", result_.tags.size());
      result_.tags[name] = {std::make_shared<MappingDemo>(), {}};
      for (Node* node : partition.nodes) node->meta.delegation_tag = name;
    }
    for (auto& [name, subgraph] : graph.subgraphs()) tag(*subgraph);
  }

  bool accepts(const Node& node, const std::optional<Refusal>& refusal) {
    if (refusal.has_value()) refuse(node, *refusal);
    return !refusal.has_value();
  }

  void refuse(const Node& node, const Refusal& refusal) {
    result_.rejections.push_back({refusal.rule, refusal.remedy, &node});
  }

  aot::ExportedProgram& program_;
  aot::PartitionResult result_;
};

}  // namespace

aot::PartitionResult MappingDemoPartitioner::partition(aot::ExportedProgram& program) const {
  return Tagger(program).run();
}

}  // namespace vitrine::mapping_demo
