// Explains why calls were not delegated.
#pragma once

#include <span>
#include <string>

#include "aot/graph/exported_program.h"
#include "aot/lowering/partitioner.h"

namespace vitrine::delegation {

// Explains why calls were not delegated, with one line of text per reason. Includes the calls in
// subgraphs of control flow. Each line contains the operators with their number of calls, the
// estimated total cost, the violated rules and the remedies. The reasons are in order of decreasing
// FLOPs; ties are in order of decreasing bytes. Omits getitems and control-flow calls, which
// compute nothing. The text is empty if all calls are delegated; otherwise it ends with a newline.
//
// If `with_calls` is set, each reason is followed by its calls, one per line, with the node, the
// cost and, if known, the position in the model's source code.
std::string explain(const aot::ExportedProgram& program, std::span<const aot::Rejection> rejections,
                    bool with_calls = false);

// Returns the reasons why one call was not delegated: the rules that it violates, and their
// remedies. Each rule appears once. The rules are in the order of the partitioners.
std::string why_not_delegated(const aot::Node& node, std::span<const aot::Rejection> rejections);

}  // namespace vitrine::delegation
