// Which XNNPACK operator runs which node of a blob, and the text that says so in a trace.
//
// XNNPACK fuses nodes when a runtime is created, so operators and nodes do not correspond one to
// one. The text's format is docs/formats/xnnpack_trace.md.
#pragma once

#include <cstdint>
#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/operator_times.h"

namespace vitrine::xnnpack {

// The subgraph nodes that defining one blob node made; none for nodes that are not live.
struct DefinedNodes {
  uint32_t first = 0;
  uint32_t count = 0;
};

struct Plan {
  struct Place {
    enum class Kind : uint8_t { kNowhere, kOperator, kFused };
    Kind kind = Kind::kNowhere;
    uint32_t op = 0;  // the node's (first) operator, or the one that it was fused into
  };
  CheckedVector<Place> places;         // by blob node
  CheckedVector<uint32_t> serves;      // by blob node: a blob node, or kNone
  CheckedVector<uint32_t> node_of_op;  // by operator: blob node, or kNone
};

Result<Plan> make_plan(const Graph& graph, std::span<const DefinedNodes> defined,
                       std::span<const OperatorTimes::Operator> operators);

// Without a zero at its end.
Result<CheckedVector<char>> plan_text(const Graph& graph, const Plan& plan);

}  // namespace vitrine::xnnpack
