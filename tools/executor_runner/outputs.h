// Prints, writes and describes the outputs of a run.
#pragma once

#include <string>
#include <vector>

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

std::vector<std::string> describe_outputs(const Method& method);
// For standard output; ends with a newline unless empty.
std::string print_outputs(const Method& method, PrintOutput what);
// BASE-0.bin, ...: tensors only, elements in row-major order. Throws ToolError.
void write_outputs(const Method& method, const std::string& base);

}  // namespace vitrine::tools
