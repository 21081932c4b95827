// Maps the nodes of a payload to the XNNPACK operators that run them, and writes this map as text
// for a trace (docs/formats/xnnpack_trace.md). XNNPACK fuses nodes when it creates a runtime, so an
// operator may run several nodes.
#pragma once

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/execution/operator_times.h"
#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// The subgraph nodes of one payload node. A dead node has none.
struct DefinedNodes {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct OperatorMap {
  struct NodePlacement {
    enum class Kind : uint8_t { kNowhere, kOperator, kFused };
    Kind kind = Kind::kNowhere;
    uint32_t op = 0;  // the node's first operator, or the operator into which the node was fused
  };
  CheckedVector<NodePlacement> placements;  // indexed by payload node
  CheckedVector<uint32_t>
      serves;  // the payload node that a layout change serves, or kNone; indexed by payload node
  CheckedVector<uint32_t> node_of_op;  // payload node or kNone; indexed by operator
};

Result<OperatorMap> make_operator_map(const Graph& graph, std::span<const DefinedNodes> defined,
                                      std::span<const OperatorTimes::Operator> operators);

// The text is not zero-terminated.
Result<CheckedVector<char>> operator_map_text(const Graph& graph, const OperatorMap& map);

}  // namespace vitrine::xnnpack
