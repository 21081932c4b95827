#pragma once

#include <span>

#include "backends/xnnpack/runtime/execution/handles.h"
#include "backends/xnnpack/runtime/execution/operator_map.h"
#include "backends/xnnpack/runtime/reader/graph.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

struct RuntimeRequest {
  const Graph& graph;
  std::span<const Shape> shapes;  // inferred shapes by value index
  xnn_workspace_t workspace;
  xnn_weights_cache_t weights;  // may be null
  pthreadpool_t pool;           // may be null
  bool profiling;
  Budget& load_steps;  // charged for the search for a node that XNNPACK rejects
};

struct BuiltRuntime {
  RuntimeHandle runtime;
  CheckedVector<DefinedNodes> defined;  // indexed by payload node
  // XNNPACK's id of each value, or XNN_INVALID_VALUE_ID.
  CheckedVector<uint32_t> ids;
  // The nodes of the subgraph, if OperatorTimes::create() needs them.
  CheckedVector<SubgraphNode> nodes;
};

// External values keep the ids of the payload. If XNNPACK rejects a node, the error names the node.
// The error is NotSupported if XNNPACK lacks the operator for the node's datatypes.
Result<BuiltRuntime> build_runtime(const RuntimeRequest& request);

}  // namespace vitrine::xnnpack
