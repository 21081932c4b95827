// Reads the memory plan of a method, with the lifetimes of its tensors, for the inspector.
#pragma once

#include "inspector/join/profile.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// A tensor is alive from the first to the last instruction that names it. Inputs are alive from the
// start, outputs to the end, and state is always alive. A tensor that is alive at any instruction
// of a loop is alive during the entire loop. Instructions are numbered across all chains of the
// method. The program must be verified.
inspector::MemoryPlan memory_plan(const MethodMeta& method);

}  // namespace vitrine::tools
