#pragma once

#include "inspector/join/profile.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Returns the memory plan with the first and the last instruction that use each tensor. Inputs are
// alive from the start of the method, outputs until its end, and state always. A tensor that is
// alive in a loop is alive during the entire loop. Instructions are numbered across all chains.
// Precondition: the program is verified.
inspector::MemoryPlan memory_plan(const MethodMeta& method);

}  // namespace vitrine::tools
