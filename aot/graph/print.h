// Prints graphs like torch.fx.
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace vitrine::aot {

// Formats a node like torch.fx's Node.format_node: "%relu : [num_users=1] =
// call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})".
std::string format_node(const Node& node);
// Formats a graph like torch.fx's Graph.__str__: "graph():" and one line per node, indented by four
// spaces. The text does not end in a newline.
std::string format_graph(const Graph& graph);
// Formats an argument like Python's str, but with "%" before each node name.
std::string format_argument(const Argument& argument);

}  // namespace vitrine::aot
