// Lists the operators in the delegates of a program. The inspector uses them to identify the
// operators in traces that other runtimes recorded.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the delegates that the method's first chain calls, indexed by instruction. The result is
// empty if the program does not have the method. The list of operators is empty for XNNPACK
// delegates, and for delegates whose payload cannot be read as a single graph.
inspector::ProgramDelegates program_delegates(const Program& program, std::string_view method);

}  // namespace vitrine::tools
