// Why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// A line for each call outside of delegates, in subgraphs of control flow too: operator, node, the
// line of the user's model if it is known, estimated cost, the rules that it broke, and what would
// change that. Most expensive first, by FLOPs, then bytes, then in the order of the graph. getitems
// and calls of control flow, which compute nothing, have none. Ends with a newline, and is empty if
// all is delegated.
std::string explain(const aot::ExportedProgram& program,
                    std::span<const aot::Rejection> rejections);

}  // namespace vitrine::delegation
