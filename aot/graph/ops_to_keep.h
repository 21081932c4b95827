// Operators that decomposition is to leave whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// By ATen name ("aten.linear.default"), if `keeps` (may be null: all) says so of the call. `keeps`
// sees calls of ATen targets before the edge dialect and of edge targets after it.
struct OpsToKeep {
  std::vector<std::string> targets;
  std::function<bool(const Node&)> keeps;
};

}  // namespace vitrine::aot
