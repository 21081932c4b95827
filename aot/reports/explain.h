// Explains why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// One line for each reason that kept calls out of delegates, in subgraphs of control flow too: the
// operators with their number of calls, the total estimated cost, the broken rules and what would
// change that. Sorted by FLOPs, then bytes, most expensive first, then in graph order. getitems and
// control-flow calls compute nothing and are left out. The text ends with a newline; it is empty if
// everything is delegated.
// `with_places` adds a line for each call below its reason: node, line of the user's model if
// known, cost.
std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_places = false);

}  // namespace vitrine::delegation
