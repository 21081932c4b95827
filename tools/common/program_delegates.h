// Lists the operators in the delegates of a program. The inspector uses them to identify the
// operators in traces that other runtimes recorded.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the delegates that the method's first chain calls, indexed by instruction. The result is
// empty if the program does not have the method. A delegate's list of operators is empty if it is
// an XNNPACK delegate, or if its payload cannot be read as a single graph.
inspector::ProgramDelegates program_delegates(const Program& program, std::string_view method);

}  // namespace vitrine::tools
