// A part of a program -> a program of its own, with the weights that it takes along.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/lowering/submodule.h"

namespace vitrine::aot {

struct SubmoduleProgram {
  ExportedProgram program;
  // What the owning program loses: placeholders whose data moved, and results (getitems of the
  // call) that are mutations of buffers which moved.
  std::vector<std::string> consumed_inputs;
  std::vector<std::string> consumed_outputs;
};

// The program of a submodule of `owning`'s graph, whose graph it takes over. The new signature:
//   placeholder                                 becomes
//   an intermediate value, or without the tag   user input
//   parameter, buffer, constant with the tag    what it was, and its data go along
//   no tensor                                   what it was
//   result                                      becomes
//   new value of a buffer that goes along       mutation of it, the first results
//   all else                                    user output
// With `is_submodule` (the graph is one of control flow) nothing goes along. An AotError if the new
// value of a buffer that goes along is used for anything else too.
SubmoduleProgram create_exported_program_from_submodule(Submodule& submodule,
                                                        const ExportedProgram& owning,
                                                        std::string_view tag,
                                                        bool is_submodule = false);

// Takes from `owning` what the program has taken: placeholders, their data unless other
// placeholders have the same, results, and getitems of `call`, whose other getitems count on from
// 0. `call` stands for the submodule now and no longer takes the placeholders.
void adjust_owning_program(ExportedProgram& owning, Node& call, const SubmoduleProgram& taken);

}  // namespace vitrine::aot
