// Refuses scales that XNNPACK's int8 operators have no numbers for.
#pragma once

#include "backends/xnnpack/runtime/graph.h"

namespace vitrine::xnnpack {

Error check_scales(const Graph& graph, const Node& node);

}  // namespace vitrine::xnnpack
