// Operators that must not be decomposed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// Calls to `targets` (ATen names, such as "aten.linear.default") are not decomposed if `keeps` is
// null or returns true. After conversion to the edge dialect, `keeps` receives edge calls.
struct OpsToKeep {
  std::vector<std::string> targets;
  std::function<bool(const Node&)> keeps;
};

}  // namespace vitrine::aot
