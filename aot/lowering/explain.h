// Explains why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// Explains why calls were not delegated, also in subgraphs of control flow. Each reason is one line
// with the operators, their numbers of calls, the estimated total cost, the violated rules and the
// remedies. Lines are in order of decreasing FLOPs; ties are in order of decreasing bytes. Omits
// getitems and control-flow calls. The text is empty if all calls are delegated; otherwise it ends
// with a newline.
//
// If `with_calls` is set, each reason is followed by its calls, one per line, with the node, the
// cost and, if known, the position in the model's source code.
std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_calls = false);

// Returns the rules that the call violates, and their remedies, in the order of the partitioners.
// Each rule appears once.
std::string why_not_delegated(const aot::Node& node, std::span<const aot::Rejection> rejections);

}  // namespace vitrine::delegation
