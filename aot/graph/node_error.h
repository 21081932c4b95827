// Errors about a node. They name the node, its operator and its line in the user's model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

// A frame of the stack trace of a call in the user's model.
struct StackFrame {
  std::string file;
  int32_t line = 0;
  std::string function;
  std::string text;
};

// The frames of a stack trace as PyTorch writes it, outermost first.
std::vector<StackFrame> parse_stack_trace(std::string_view trace);

// Throws AotError: "node aten_add_tensor (aten.add.Tensor), model.py:12: " and the text.
[[noreturn]] void fail_at(const Node& node, std::string_view text);

}  // namespace vitrine::aot
