// Serializes an edge program as the JSON of ETRecords (docs/formats/etrecord.md).
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct SourceProgramOptions {
  // Writes a single list of calls. The list contains a delegate's original calls instead of the
  // delegate call, and the calls of subgraphs instead of conditions and loops. Readers need this
  // list to match profiles of lowered programs.
  bool flat = false;
  // Writes the ancestors of each node, which are the nodes of earlier graphs that passes turned
  // into this node. Also writes source_fn_stack and torch_fn. This information takes up much space,
  // and only ExecuTorch's tools read it.
  bool ancestors = true;
};

// Writes version 5.4 of the schema in ExecuTorch's exir/serde. Throws AotError for a delegate call
// unless options.flat is set, since ExecuTorch's format has no delegates.
std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options = {});

}  // namespace vitrine::aot
