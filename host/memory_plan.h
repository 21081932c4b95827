// The memory plan of a method with the lifetimes of its tensors, for the inspector.
#pragma once

#include "inspector/join/profile.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// A tensor lives from the first instruction that names it to the last; inputs and state from before
// the first; outputs and state to the end. A tensor that lives across a backward jump lives as long
// as the loop. Instructions are counted over all chains of the method. The program must be
// verified.
inspector::MemoryPlan memory_plan(const MethodMeta& method);

}  // namespace vitrine::tools
