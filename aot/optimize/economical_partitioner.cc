#include "aot/optimize/economical_partitioner.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "aot/operators/strides.h"
#include "aot/optimize/rewriting.h"

namespace vitrine::aot {
namespace {

// True for a view that does not run code outside delegates. False for an output of the graph,
// because outputs need separate memory.
bool is_free_outside(const Node& call) {
  constexpr std::array<std::string_view, 3> kViews = {
      "aten.view_copy.default", "aten.squeeze_copy.dims", "aten.unsqueeze_copy.default"};
  if (std::ranges::count(kViews, call.target().name()) == 0) return false;
  const Node* input = tensor_arg(call, 0);
  return input != nullptr && is_contiguous(*input->tensor()) && is_contiguous(*call.tensor()) &&
         !is_result(call);
}

class EconomicalPartitioner final : public Partitioner {
 public:
  EconomicalPartitioner(std::shared_ptr<const Partitioner> inner, SparedViews* spared)
      : inner_(std::move(inner)), spared_(spared) {}

  PartitionResult partition(ExportedProgram& program) const override {
    PartitionResult result = inner_->partition(program);
    std::map<std::string, std::vector<Node*>> partitions;
    for_each_graph(*program.graph, [&](Graph& graph) {
      for (Node& node : graph.nodes()) {
        const std::string& tag = node.meta.delegation_tag;
        if (node.is_call() && !tag.empty()) partitions[tag].push_back(&node);
      }
    });
    SparedViews spared;
    for (auto& [tag, nodes] : partitions) {
      spared.views += remove_views(nodes, result.rejections);
      if (!nodes.empty()) continue;
      result.tags.erase(tag);
      ++spared.delegates;
    }
    if (spared_ != nullptr) {
      spared_->views += spared.views;
      spared_->delegates += spared.delegates;
    }
    return result;
  }

  OpsToKeep ops_to_keep(const ExportedProgram& program) const override {
    return inner_->ops_to_keep(program);
  }

 private:
  // Removes the views at the start and the end of the partition. Views in the middle stay, because
  // a delegate's inputs must not depend on its results. Returns the number of removed views.
  static size_t remove_views(std::vector<Node*>& nodes, std::vector<Rejection>& rejections) {
    const size_t before = nodes.size();
    const auto is_outermost = [](const Node* node) {
      const auto is_outside = [&](const Node* other) {
        return other->meta.delegation_tag != node->meta.delegation_tag;
      };
      return std::ranges::all_of(node->users(), is_outside) ||
             std::ranges::all_of(node->inputs(), is_outside);
    };
    for (bool found = true; found;) {
      found = false;
      std::erase_if(nodes, [&](Node* node) {
        if (!is_free_outside(*node) || !is_outermost(node)) return false;
        node->meta.delegation_tag.clear();
        rejections.push_back({"a view costs nothing outside a delegate", "", node});
        return found = true;
      });
    }
    return before - nodes.size();
  }

  std::shared_ptr<const Partitioner> inner_;
  SparedViews* spared_;
};

}  // namespace

std::shared_ptr<const Partitioner> economical(std::shared_ptr<const Partitioner> inner,
                                              SparedViews* spared) {
  return std::make_shared<EconomicalPartitioner>(std::move(inner), spared);
}

}  // namespace vitrine::aot
