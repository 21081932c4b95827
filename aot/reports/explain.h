// Explains why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// A line for each reason that kept calls outside of delegates, in subgraphs of control flow too:
// the operators with their calls counted, the summed cost as estimated, the rules that they broke
// and what would change that. Most expensive first, by FLOPs, then bytes, then in the order of the
// graph. getitems and calls of control flow, which compute nothing, do not count. Ends with a
// newline, and is empty if all is delegated.
// `with_places`: below each reason a line for each call: node, the line of the user's model if it
// is known, cost.
std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_places = false);

}  // namespace vitrine::delegation
