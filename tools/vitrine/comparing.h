// Implements the command `vitrine compare`.
#pragma once

namespace vitrine::tools {

// Selects a tool by the kinds of the two files, and runs this tool with the files and the options.
// Returns the exit code.
int compare(int argc, char** argv);

}  // namespace vitrine::tools
