#include "tools/pte_inspect/delegation_reasons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "aot/graph/pass.h"
#include "aot/lowering/explain.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"
#include "backends/xnnpack/aot/partitioner.h"

namespace vitrine::tools {

DelegationReasons delegation_reasons(aot::ExportedProgram program) {
  const aot::XnnpackPartitioner partitioner;
  aot::EdgeOptions edge;
  edge.ops_to_keep.push_back(partitioner.ops_to_keep(program));
  aot::to_edge(program, edge);
  const aot::PartitionResult partitions = partitioner.partition(program);
  DelegationReasons reasons;
  aot::for_each_call(*program.graph, [&](aot::Node& node) {
    const aot::Dialect dialect = node.target().dialect();
    if (dialect == aot::Dialect::kPython || dialect == aot::Dialect::kHigherOrder) return;
    DelegationReasons::Call call{node.target().name(), ""};
    if (node.meta.delegation_tag.empty()) {
      call.why_not = delegation::why_not_delegated(node, partitions.rejections);
    }
    reasons.of_handle[node.meta.debug_handle].push_back(call);
    reasons.of_source[aot::source_of(node)].push_back(std::move(call));
  });
  return reasons;
}

std::string reason_text(const std::vector<DelegationReasons::Call>& calls) {
  std::vector<std::pair<std::string, std::vector<std::string>>> ops_of_reason;
  for (const DelegationReasons::Call& call : calls) {
    auto found = std::ranges::find(ops_of_reason, call.why_not,
                                   &std::pair<std::string, std::vector<std::string>>::first);
    if (found == ops_of_reason.end()) found = ops_of_reason.insert(found, {call.why_not, {}});
    if (std::ranges::count(found->second, call.op) == 0) found->second.push_back(call.op);
  }
  std::vector<std::string> lines;
  for (const auto& [why_not, ops] : ops_of_reason) {
    const std::string what =
        ops_of_reason.size() == 1 ? "it" : fmt::format("{}", fmt::join(ops, ", "));
    lines.push_back(why_not.empty() ? "takes " + what
                                    : fmt::format("does not take {}: {}", what, why_not));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace vitrine::tools
