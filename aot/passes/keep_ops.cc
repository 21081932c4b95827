// Decides which operators partitioners may keep, and checks that backends run the kept calls.
#include <fmt/format.h>

#include <algorithm>

#include "aot/graph/node_error.h"
#include "aot/graph/pass.h"
#include "aot/passes/passes.h"
#include "aot/passes/pipelines.h"

namespace vitrine::aot {

bool may_keep(std::string_view name) {
  const Target target = Target::of(name);
  const std::string_view overload = target.overload();
  if (is_in_place(target) || overload == "out" || overload.ends_with("_out")) return false;
  const Operator* op = operator_of(target);
  return op == nullptr || (!op->may_alias() && !op->is_never_kept);
}

void require_kept_ops_lowered(const ExportedProgram& program,
                              std::span<const OpsToKeep> ops_to_keep) {
  for_each_call(*program.graph, [&](Node& node) {
    const std::string& name = node.target().name();
    // Quantization calls may remain, because they have a kernel or are decomposed later.
    if (!may_keep(name) || is_quantization(node.target())) return;
    for (const OpsToKeep& ops : ops_to_keep) {
      if (std::ranges::count(ops.targets, name) != 0 && (!ops.keeps || ops.keeps(node))) {
        fail_at(node, fmt::format("a partitioner prevented the decomposition of {} but did not "
                                  "delegate it",
                                  name));
      }
    }
  });
}

}  // namespace vitrine::aot
