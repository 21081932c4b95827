// Implements the command `vitrine compare`.
#pragma once

namespace vitrine::tools {

// Passes the two files and the options to the tool that compares files of their kinds. Returns the
// exit code.
int compare(int argc, char** argv);

}  // namespace vitrine::tools
