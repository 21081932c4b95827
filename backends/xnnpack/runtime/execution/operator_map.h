// Maps the nodes of a payload to the XNNPACK operators that run them, and writes this map as text
// for a trace (docs/formats/xnnpack_trace.md).
//
// XNNPACK fuses nodes when it creates a runtime, so operators and nodes do not correspond one to
// one.
#pragma once

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/execution/operator_times.h"
#include "backends/xnnpack/runtime/reader/graph.h"

namespace vitrine::xnnpack {

// The subgraph nodes that XNNPACK made for one payload node; none if the node is not live.
struct DefinedNodes {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct OperatorMap {
  struct NodePlacement {
    enum class Kind : uint8_t { kNowhere, kOperator, kFused };
    Kind kind = Kind::kNowhere;
    uint32_t op = 0;  // the node's (first) operator, or the one that it was fused into
  };
  CheckedVector<NodePlacement> placements;  // indexed by payload node
  CheckedVector<uint32_t>
      serves;  // indexed by payload node: the payload node that a layout change serves, or kNone
  CheckedVector<uint32_t> node_of_op;  // indexed by operator: payload node, or kNone
};

Result<OperatorMap> make_operator_map(const Graph& graph, std::span<const DefinedNodes> defined,
                                      std::span<const OperatorTimes::Operator> operators);

// Returns the operator map as text, which is not zero-terminated.
Result<CheckedVector<char>> operator_map_text(const Graph& graph, const OperatorMap& map);

}  // namespace vitrine::xnnpack
