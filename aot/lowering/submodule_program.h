// Makes a separate program from a part of a program and its weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/submodule.h"

namespace vitrine::aot {

struct SubmoduleProgram {
  ExportedProgram program;
  // What the owning program loses: placeholders whose data moved, and results (getitems of the
  // call) that mutate moved buffers.
  std::vector<std::string> consumed_inputs;
  std::vector<std::string> consumed_outputs;
};

// Makes the program of a submodule of `owning`'s graph and takes over the submodule's graph. The
// new signature:
//   placeholder                                 becomes
//   an intermediate value, or without the tag   user input
//   parameter, buffer, constant with the tag    what it was, and its data go along
//   no tensor                                   what it was
//   result                                      becomes
//   new value of a buffer that goes along       mutation of it, the first results
//   all else                                    user output
// With `is_submodule` (the graph belongs to control flow) no data move. AotError if the new value
// of a moved buffer has other uses.
SubmoduleProgram create_exported_program_from_submodule(Submodule& submodule,
                                                        const ExportedProgram& owning,
                                                        std::string_view tag,
                                                        bool is_submodule = false);

// Removes from `owning` what the new program took: placeholders, their data unless other
// placeholders share them, results, and getitems of `call`, whose other getitems are renumbered
// from 0. `call` now stands for the submodule and no longer takes the placeholders.
void adjust_owning_program(ExportedProgram& owning, Node& call, const SubmoduleProgram& taken);

}  // namespace vitrine::aot
