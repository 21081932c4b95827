// Implements the command `vitrine compare`.
#pragma once

namespace vitrine::tools {

// Passes the two files and the options to the tool that compares such files. Returns the exit code.
int compare(int argc, char** argv);

}  // namespace vitrine::tools
