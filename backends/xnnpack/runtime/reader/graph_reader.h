// Turns a verified flatbuffer into a Graph and rejects invalid graphs. Checks ids (known, defined
// once, written before they are read), ranks, datatypes and their quantization, flags, and the
// combination of datatypes of each node. Errors name the value or node, e.g. "xnodes[12] (Conv2d):
// kernel_width is 0".
#pragma once

#include "backends/xnnpack/runtime/reader/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Takes one step from the budget `steps` for each value, scale and node. Returns OutOfResources if
// the budget is used up.
Result<Graph> read_graph(const schema::xnnpack::XNNGraph& from, Budget& steps);

// Sets Node::live for the nodes on which an output depends, and Value::used and Value::last_reader
// for the values that they read. Dead nodes are not passed to XNNPACK, because XNNPACK stops fusing
// at the first unused result. Call again after a node's inputs changed.
Error find_live_nodes(Graph& graph);

}  // namespace vitrine::xnnpack
