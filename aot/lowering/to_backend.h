// Handing programs, or parts of them, to backends.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

// The whole program. The backend works on a copy. AotErrors begin with the backend's id.
std::shared_ptr<const LoweredBackendModule> to_backend(
    const Backend& backend, const ExportedProgram& program,
    std::span<const CompileSpec> compile_specs = {});

struct ToBackendOptions {
  // That the partitioner only tags. Costs a copy of the graph, not of its weights.
  bool check_partitioner = true;
};

// What one partitioner tags goes to its backends, one delegate a tag and graph: each becomes a call
// whose debug handle is one more than all in the program's graph. Weights with the tag move into
// the delegate; what shares them gets copies. Subgraphs of control flow are lowered with the same
// tags, without weights. Tags are served by name, the numbers in names by value, one backend after
// the other; tags without nodes are skipped. The program ends without tags. Returns what the
// partitioner rejected and no one delegates. AotErrors name the node, if: an output, a user input
// or anything with a tag that the partitioner does not list is tagged; a tagged weight cannot be
// copied; a tag's nodes are no one part (submodule.h); the partitioner changed the graph; the
// backend refuses.
std::vector<Rejection> to_backend(ExportedProgram& program, const Partitioner& partitioner,
                                  const ToBackendOptions& options = {});

// Several partitioners, in order of preference: each sees what those before left. Of a node that
// several reject, each reason is given.
std::vector<Rejection> to_backend(ExportedProgram& program,
                                  std::span<const std::shared_ptr<const Partitioner>> partitioners,
                                  const ToBackendOptions& options = {});

}  // namespace vitrine::aot
