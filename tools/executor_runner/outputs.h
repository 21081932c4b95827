#pragma once

#include <string>
#include <vector>

#include "tools/executor_runner/options.h"
#include "vitrine/method.h"

namespace vitrine::tools {

std::vector<std::string> describe_outputs(const Method& method);
// The text ends with a newline unless it is empty.
std::string print_outputs(const Method& method, PrintOutput what);
// Writes each tensor output to BASE-<index>.bin in row-major order. Throws ToolError.
void write_outputs(const Method& method, const std::string& base);

}  // namespace vitrine::tools
