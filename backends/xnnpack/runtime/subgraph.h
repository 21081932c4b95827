// A graph as XNNPACK wants it: a subgraph, and the runtime made of it.
#pragma once

#include <span>

#include "backends/xnnpack/runtime/graph.h"
#include "backends/xnnpack/runtime/handles.h"
#include "backends/xnnpack/runtime/plan.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

struct RuntimeRequest {
  const Graph& graph;
  std::span<const Shape> shapes;  // by value index, inferred
  xnn_workspace_t workspace;
  xnn_weights_cache_t weights;  // may be null
  pthreadpool_t pool;           // may be null
  bool profiling;
  Budget& load_steps;  // for the search of what XNNPACK refuses
};

struct BuiltRuntime {
  RuntimeHandle runtime;
  CheckedVector<DefinedNodes> defined;  // by blob node
};

// External values have the ids that the blob gives them. What XNNPACK refuses is an error that
// names the node; NotSupported if it lacks the operator for the node's datatypes.
Result<BuiltRuntime> build_runtime(const RuntimeRequest& request);

}  // namespace vitrine::xnnpack
