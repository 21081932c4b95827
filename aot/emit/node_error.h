// Errors about a node that name it, what it calls and its line in the user's model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aot/emit/execution_plan.h"
#include "aot/graph/node.h"

namespace vitrine::aot {

// The frames of a stack trace as PyTorch writes it, outermost first.
std::vector<StackFrame> parse_stack_trace(std::string_view trace);

// Throws AotError: "node aten_add_tensor (aten.add.Tensor), model.py:12: " and the text.
[[noreturn]] void fail_at(const Node& node, std::string_view text);

}  // namespace vitrine::aot
