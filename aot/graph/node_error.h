// Errors that name a node, its operator and its line in the user's model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/node.h"

namespace vitrine::aot {

struct StackFrame {
  std::string file;
  int32_t line = 0;
  std::string function;
  std::string text;
};

// Parses a stack trace in PyTorch's format. Returns the outermost frame first.
std::vector<StackFrame> parse_stack_trace(std::string_view trace);

// Throws AotError: "node aten_add_tensor (aten.add.Tensor), model.py:12: <text>".
[[noreturn]] void fail_at(const Node& node, std::string_view text);

}  // namespace vitrine::aot
