// Operators that must not be decomposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// ATen names ("aten.linear.default"). Calls are kept if `keeps` returns true; null keeps all.
// `keeps` sees calls of ATen targets before the edge dialect and of edge targets after it.
struct OpsToKeep {
  std::vector<std::string> targets;
  std::function<bool(const Node&)> keeps;
};

}  // namespace vitrine::aot
