// Implements `vitrine strip`.
#pragma once

namespace vitrine::tools {

// Removes a program's record, which only profiles need. Returns the exit code.
int strip(int argc, char** argv);

}  // namespace vitrine::tools
