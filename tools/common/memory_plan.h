// Reads the memory plan of a method, with the lifetimes of its tensors, for the inspector.
#pragma once

#include "inspector/join/profile.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// Returns the memory plan with the lifetime of each tensor: from the first to the last instruction
// that uses the tensor. Inputs are alive from the start of the method, outputs until its end, and
// state always. A tensor that is alive at any instruction of a loop is alive during the entire
// loop. Instructions are numbered across all chains of the method. Precondition: the program is
// verified.
inspector::MemoryPlan memory_plan(const MethodMeta& method);

}  // namespace vitrine::tools
