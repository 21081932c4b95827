// Implements `vitrine compare`.
#pragma once

namespace vitrine::tools {

// Runs the tool that can compare the kinds of the two files. Returns the exit code.
int compare(int argc, char** argv);

}  // namespace vitrine::tools
