// Serializes an edge program as the JSON of ETRecords (docs/formats/etrecord.md).
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct SourceProgramOptions {
  // Writes a single list of calls. A delegate call is replaced by the delegate's original calls.
  // Conditions and loops are replaced by the calls of their subgraphs. Profiles of lowered programs
  // can be matched only with this form.
  bool flat = false;
  // Writes the ancestors of each node: the nodes of earlier graphs from which passes made it. They
  // take up much space, and only ExecuTorch's tools read them.
  bool ancestors = true;
};

// Writes version 5.4 of the schema in ExecuTorch's exir/serde. Throws AotError for a delegate call
// unless options.flat is set, since ExecuTorch's format has no delegates.
std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options = {});

}  // namespace vitrine::aot
