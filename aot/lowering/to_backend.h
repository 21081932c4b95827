// Delegates programs, or partitions of them, to backends.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "aot/lowering/partitioner.h"

namespace vitrine::aot {

// Compiles a copy of a complete program with a backend. AotErrors begin with the backend's id.
std::shared_ptr<const LoweredBackendModule> to_backend(
    const Backend& backend, const ExportedProgram& program,
    std::span<const CompileSpec> compile_specs = {});

struct ToBackendOptions {
  // Checks that the partitioner changes only tags. The check copies the graph, but not the weights.
  bool check_partitioner = true;
};

// Delegates the nodes that one partitioner tags. All nodes of a graph with the same tag become one
// delegate, and one call replaces these nodes. The call's debug handle is one more than the largest
// handle in the main graph. Returns the rejections of nodes that are not delegated.
//
// Weights with a delegate's tag move into this delegate. Users with another tag or no tag get a
// copy of the weight. Subgraphs of control flow are lowered with the same tags, but their weights
// do not move.
//
// Processes tags in order of name, with numbers by value: "tag2" comes before "tag10". Compiles all
// delegates of one backend before the next backend. The resulting program has no tags.
//
// Throws AotErrors that name the node if an output or a user input is tagged; a tag is not in the
// partitioner's list; a tagged weight cannot be copied; a path leads out of a tag's nodes and back
// in (submodule.h); the partitioner changed the graph; or the backend rejects a node.
std::vector<Rejection> to_backend(ExportedProgram& program, const Partitioner& partitioner,
                                  const ToBackendOptions& options = {});

// Runs partitioners in order of preference. Each partitioner gets the nodes that are not delegated
// yet. A node may have rejections from several partitioners.
std::vector<Rejection> to_backend(ExportedProgram& program,
                                  std::span<const std::shared_ptr<const Partitioner>> partitioners,
                                  const ToBackendOptions& options = {});

}  // namespace vitrine::aot
