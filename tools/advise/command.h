// The command `vitrine advise`.
#pragma once

namespace vitrine::tools {

// Returns the exit code.
int advise(int argc, char** argv);

}  // namespace vitrine::tools
