// Lists the operators that the delegates of a program run, for profiles of traces that other
// runtimes recorded.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the delegate calls of the method's first chain. Returns an empty list if the program
// lacks the method. A call has no operators if its payload is damaged or its format is not public.
inspector::ProgramDelegates program_delegates(const Program& program, std::string_view method);

}  // namespace vitrine::tools
