// Implements the command `vitrine strip`.
#pragma once

namespace vitrine::tools {

// Removes the record from a program. Returns the exit code.
int strip(int argc, char** argv);

}  // namespace vitrine::tools
