// Makes the program that advice describes, and compares its gain with the prediction.
#pragma once

#include <string>
#include <vector>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

// Returns the indices in `advice` of the lines with the given numbers and names, such as "1" and
// "optimize". Throws ToolError for a number or name that does not exist or is given twice, for
// lines that exclude each other, and for a line that options cannot apply.
std::vector<size_t> chosen_lines(const std::vector<std::string>& chosen,
                                 const std::vector<Advice>& advice);

// Applies the lines of advice, writes the program to options.output if that is set, and prints the
// commands that do the same. With --verify, prints predicted and measured gains. Returns the exit
// code.
int apply_advice(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

// Applies the combination of lines that keeps the outputs and saves most time (Findings::together).
// Prints the steps and the commands, and writes the program to options.output if that is set.
// Returns the exit code.
int apply_automatically(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

}  // namespace vitrine::tools
