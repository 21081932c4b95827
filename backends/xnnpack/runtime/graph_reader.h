// Turns a verified flatbuffer into a Graph, and refuses graphs that are not sound.
//
// Checked here: ids (known, defined once, made before they are read), ranks, datatypes and their
// quantisation, flags, and which datatypes a node takes together. Every error names its place, e.g.
// "xnodes[12] (Conv2d): kernel_width is 0".
#pragma once

#include "backends/xnnpack/runtime/graph.h"
#include "schema/xnnpack_graph_generated.h"
#include "vitrine/budget.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack {

// Each value, scale and node takes a step, as often as it is met: OutOfResources beyond `steps`.
Result<Graph> read_graph(const schema::xnnpack::XNNGraph& from, Budget& steps);

}  // namespace vitrine::xnnpack
