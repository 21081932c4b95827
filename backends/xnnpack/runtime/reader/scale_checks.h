// Rejects scales that XNNPACK's int8 operators cannot represent in their parameters.
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

Error check_scales(const Graph& graph, const Node& node);

}  // namespace vitrine::xnnpack
