// Makes a separate program from a submodule and its weights.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/submodule.h"

namespace vitrine::aot {

struct SubmoduleProgram {
  ExportedProgram program;
  // The nodes that adjust_owning_program() removes: placeholders whose data moved, and getitems of
  // the call that are the new values of moved buffers.
  std::vector<std::string> consumed_inputs;
  std::vector<std::string> consumed_outputs;
};

// Makes a program from a submodule of `owning`'s graph, and takes the submodule's graph. The inputs
// and outputs of the new program have these kinds:
//   input of the submodule                        kind
//   intermediate value of `owning`                user input
//   tensor placeholder of `owning` without `tag`  user input
//   parameter, buffer or constant with `tag`      same kind as in `owning`; its data move too
//   placeholder of `owning` that is not a tensor  same kind as in `owning`
//
//   output of the submodule                       kind
//   new value of a moved buffer                   buffer mutation; these come first
//   any other                                     user output
// Set `is_submodule` for nodes of a branch or loop body. Then all inputs are user inputs, all
// outputs are user outputs, and no data move. Throws AotError if the new value of a moved buffer
// has other uses, or if `owning` has no data for a weight with `tag`.
SubmoduleProgram create_exported_program_from_submodule(Submodule& submodule,
                                                        const ExportedProgram& owning,
                                                        std::string_view tag,
                                                        bool is_submodule = false);

// Removes everything from `owning` that moved: the placeholders in `consumed_inputs`, and the
// getitems of `call` in `consumed_outputs` with the program outputs that return these getitems.
// Also removes the placeholders' data unless other placeholders share the data. Renumbers the
// remaining getitems from 0. `call` must be the delegate call that replaced the submodule's call
// and must not use the removed placeholders.
void adjust_owning_program(ExportedProgram& owning, Node& call, const SubmoduleProgram& taken);

}  // namespace vitrine::aot
