// Graphs as text, in the form of torch.fx.
#pragma once

#include <string>

#include "aot/graph/graph.h"

namespace vitrine::aot {

// "%relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs =
// {})", as torch.fx's Node.format_node.
std::string format_node(const Node& node);
// "graph():" and one line per node, indented by four, as torch.fx's Graph.__str__. No newline at
// the end.
std::string format_graph(const Graph& graph);
// As Python's str: nodes with "%".
std::string format_argument(const Argument& argument);

}  // namespace vitrine::aot
