// The memory plan of a method with the lives of its tensors, for the inspector.
#pragma once

#include "inspector/join/profile.h"
#include "vitrine/method_meta.h"

namespace vitrine::tools {

// A tensor lives from the first instruction that names it to the last; inputs and state from before
// the first; outputs and state to the end. What a jump back crosses lives as long as the loop.
// Instructions are counted over all chains of the method. The program is verified already.
inspector::MemoryPlan memory_plan(const MethodMeta& method);

}  // namespace vitrine::tools
