// Serializes an edge program as the JSON of ETRecords (docs/formats/etrecord.md).
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct SourceProgramOptions {
  // Writes one list of calls: instead of a delegate call its original calls, and instead of a
  // condition or loop the calls of its subgraphs. The join of a profile with a lowered program
  // needs this form.
  bool flat = false;
  // Writes the ancestors of each node. They take much space, and only ExecuTorch's tools read them.
  bool ancestors = true;
};

// Writes schema 5.4 of ExecuTorch's exir/serde. Throws AotError for a delegate call unless
// options.flat is set, since ExecuTorch's format has no delegates.
std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options = {});

}  // namespace vitrine::aot
