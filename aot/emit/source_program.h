// Serializes an edge program as the JSON of ETRecords (docs/formats/etrecord.md).
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct SourceProgramOptions {
  // Writes a single list that contains the calls inside delegates, conditions and loops. Readers
  // need this list to match profiles of lowered programs.
  bool flat = false;
  // Writes source_fn_stack, torch_fn and the ancestors of each node. This information takes up much
  // space, and only ExecuTorch's tools read it.
  bool ancestors = true;
};

// Writes version 5.4 of the schema in ExecuTorch's exir/serde. Throws AotError for a delegate call
// unless options.flat is set.
std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options = {});

}  // namespace vitrine::aot
