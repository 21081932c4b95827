// Applies advice: makes the changed program, and compares the measured gain with the prediction.
#pragma once

#include <string>
#include <vector>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

// Finds the pieces of advice with the given numbers and names, such as "1" and "optimize", and
// returns their indices in `advice`. Throws ToolError for a number or name that does not exist or
// is given twice, for pieces of advice that exclude each other, and for advice that options cannot
// apply.
std::vector<size_t> chosen_lines(const std::vector<std::string>& chosen,
                                 const std::vector<Advice>& advice);

// Applies pieces of advice, writes the program to options.output if that is set, and prints
// commands that have the same effect. If --verify is given, prints the predicted and the measured
// gains. Returns the exit code.
int apply_advice(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

// Applies the combination of advice that saves the most time without changing the outputs
// (Findings::together). Prints the steps and the commands, and writes the program to options.output
// if that is set. Returns the exit code.
int apply_automatically(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

}  // namespace vitrine::tools
