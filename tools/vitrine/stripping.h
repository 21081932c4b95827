// Implements the command `vitrine strip`.
#pragma once

namespace vitrine::tools {

// Removes the record from a program: the names that only profiles need. Returns the exit code.
int strip(int argc, char** argv);

}  // namespace vitrine::tools
