// Makes the changed program, and compares the measured gain with the prediction.
#pragma once

#include <string>
#include <vector>

#include "tools/advise/baseline.h"
#include "tools/advise/find_advice.h"

namespace vitrine::tools {

// Returns the indices of the advice with the given numbers and names, such as "1" and "optimize".
// Throws ToolError for unknown or repeated advice, for advice that excludes other chosen advice,
// and for advice that options cannot apply.
std::vector<size_t> chosen_lines(const std::vector<std::string>& chosen,
                                 const std::vector<Advice>& advice);

// Applies advice, writes the program to options.output unless it is empty, and prints equivalent
// commands. With --verify, prints the predicted and the measured gains. Returns the exit code.
int apply_advice(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

// Applies the combination of advice that saves the most time without changing the outputs
// (Findings::together). Prints the steps and commands, and writes the program to options.output
// unless it is empty. Returns the exit code.
int apply_automatically(Baseline& baseline, const Findings& findings, const AdviseOptions& options);

}  // namespace vitrine::tools
