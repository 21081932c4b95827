// Explains why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// Returns a line for each reason why calls were not delegated, including calls in subgraphs of
// control flow. A line has the operators with their number of calls, the total estimated cost, the
// violated rules and the remedies. Lines are sorted by FLOPs, then bytes, most expensive first,
// then in graph order. getitems and control-flow calls compute nothing and are omitted. The text is
// empty if all calls are delegated; otherwise it ends with a newline.
//
// If `with_calls` is set, a line for each call follows its reason: node, line of the user's model
// if known, cost.
std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_calls = false);

// Returns the reasons for one call that was not delegated: rules and remedies, each once, in the
// order of the partitioners.
std::string why_not_delegated(const aot::Node& node, std::span<const aot::Rejection> rejections);

}  // namespace vitrine::delegation
