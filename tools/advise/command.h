// Implements the command `vitrine advise`.
#pragma once

namespace vitrine::tools {

// Runs the command. Returns the exit code.
int advise(int argc, char** argv);

}  // namespace vitrine::tools
