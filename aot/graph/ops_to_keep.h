// Operators that must not be decomposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// `targets` are ATen names ("aten.linear.default"). A call to one of these operators is not
// decomposed if `keeps` is null or returns true for the call. The call's target is an ATen target
// before the program is converted to the edge dialect, and an edge target afterwards.
struct OpsToKeep {
  std::vector<std::string> targets;
  std::function<bool(const Node&)> keeps;
};

}  // namespace vitrine::aot
