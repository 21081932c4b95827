// An edge program as the JSON that ETRecords hold (docs/formats/etrecord.md).
#pragma once

#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct SourceProgramOptions {
  // Writes one list: a delegate's call as the calls that it replaced, a condition as the calls of
  // both branches. A profile's join needs this form of a program that is lowered already.
  bool flat = false;
  // The nodes that each node was made from: long, and only ExecuTorch's own tools ask for them.
  bool ancestors = true;
};

// Schema 5.4 of ExecuTorch's exir/serde. A delegate is an AotError unless the
// program is flattened: ExecuTorch records programs before lowering.
std::string source_program_json(const ExportedProgram& program,
                                const SourceProgramOptions& options = {});

}  // namespace vitrine::aot
