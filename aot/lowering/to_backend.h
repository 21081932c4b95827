// Hands programs, or parts of them, to backends.
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
  // Checks that the partitioner only tags. Costs a copy of the graph, but not of its weights.
  bool check_partitioner = true;
};

// Hands the nodes that one partitioner tags to its backends, one delegate per tag and graph. Each
// delegate becomes a call whose debug handle is one more than the largest in the program's graph.
// Weights with the tag move into the delegate; other users of them get copies. Subgraphs of control
// flow are lowered with the same tags, without weights. Tags are processed backend by backend,
// sorted by name, with numbers in names by value; tags without nodes are skipped. The resulting
// program has no tags. Returns the rejected nodes that no one delegates. AotErrors name the node,
// if: an output or a user input is tagged; a tag is not in the partitioner's list; a tagged weight
// cannot be copied; a path leads out of a tag's nodes and back in (submodule.h); the partitioner
// changed the graph; the backend refuses.
std::vector<Rejection> to_backend(ExportedProgram& program, const Partitioner& partitioner,
                                  const ToBackendOptions& options = {});

// Several partitioners, in order of preference; each sees the nodes that those before it left. A
// node that several reject has all their reasons.
std::vector<Rejection> to_backend(ExportedProgram& program,
                                  std::span<const std::shared_ptr<const Partitioner>> partitioners,
                                  const ToBackendOptions& options = {});

}  // namespace vitrine::aot
