// Lists the operators in a program's delegates. The inspector needs these lists for traces of other
// runtimes.
#pragma once

#include <string_view>

#include "inspector/join/delegate_profile.h"
#include "vitrine/program.h"

namespace vitrine::tools {

// Returns the delegates that the method's first chain calls, indexed by instruction. Empty if the
// method is missing. XNNPACK delegates, and payloads that are not a single graph, have empty lists.
inspector::ProgramDelegates program_delegates(const Program& program, std::string_view method);

}  // namespace vitrine::tools
