// Which passes run, in which order: the semantics of ExecuTorch 1.4's to_edge and to_executorch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"
#include "aot/graph/ops_to_keep.h"

namespace vitrine::aot {

// The defaults are ExecuTorch's.
struct EdgeOptions {
  bool skip_dim_order = false;            // clones and conversions keep their memory formats
  std::vector<std::string> preserve_ops;  // never decomposed, by ATen name
  // The operators that each partitioner keeps, in their order (to_edge_transform_and_lower). Views,
  // operators that write and those of `may_keep`'s list are decomposed anyway.
  std::vector<OpsToKeep> ops_to_keep;
};

// Training IR or core ATen -> the edge dialect, with debug handles. AotErrors name pass and node.
void to_edge(ExportedProgram& program, const EdgeOptions& options = {});
// Runs after lowering. AotError if a call that a partitioner kept is not in a delegate.
void require_kept_ops_lowered(const ExportedProgram& program,
                              std::span<const OpsToKeep> ops_to_keep);

struct ExecutableOptions {
  bool elide_views = true;  // views share memory where no output needs them
  bool reinplace = false;   // index_put writes to its input where nothing else reads that
};

// Edge dialect -> the emitter's input: buffers are written back, views share memory.
void to_executable(ExportedProgram& program, const ExecutableOptions& options = {});

}  // namespace vitrine::aot
