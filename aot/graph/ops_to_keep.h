// Operators that must not be decomposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// `targets` are ATen names ("aten.linear.default"). A call to one of these operators is not
// decomposed if `keeps` returns true, or if `keeps` is null. `keeps` receives calls with ATen
// targets until the program is in the edge dialect, and calls with edge targets after that.
struct OpsToKeep {
  std::vector<std::string> targets;
  std::function<bool(const Node&)> keeps;
};

}  // namespace vitrine::aot
