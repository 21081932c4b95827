// Implements the command `vitrine advise`.
#pragma once

namespace vitrine::tools {

int advise(int argc, char** argv);

}  // namespace vitrine::tools
