// Pipelines of passes, with the semantics of ExecuTorch 1.4's to_edge and to_executorch.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// Options of to_edge(). The defaults are those of ExecuTorch.
struct EdgeOptions {
  bool skip_dim_order = false;            // true: clones and conversions keep their memory formats
  std::vector<std::string> preserve_ops;  // ATen names of operators that are not decomposed
  // One element per partitioner, in order: the operators whose decomposition the partitioner
  // prevents. Operators for which may_keep() is false are decomposed anyway.
  std::vector<OpsToKeep> ops_to_keep;
  // A function that changes the program while it is a functional graph of core ATen. May be null.
  std::function<void(ExportedProgram& program)> rewrite;
};

// Converts training IR or core ATen to the edge dialect, and adds debug handles. AotErrors name the
// pass and the node.
void to_edge(ExportedProgram& program, const EdgeOptions& options = {});
// Throws AotError if a call whose decomposition a partitioner prevented is not in a delegate.
void require_kept_ops_lowered(const ExportedProgram& program,
                              std::span<const OpsToKeep> ops_to_keep);

struct ExecutableOptions {
  bool elide_views = true;  // true: views share the memory of their inputs unless they are outputs
  bool reinplace = false;   // true: index_put overwrites an input that nothing reads later
};

// Converts an edge program to the emitter's input: views share memory, buffers are written back.
void to_executable(ExportedProgram& program, const ExecutableOptions& options = {});

}  // namespace vitrine::aot
