// Finds the calls that prevent an exported model from being lowered, and suggests replacements.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::tools {

// Calls to one operator that fail for the same reason.
struct Blocker {
  std::string op;                  // "aten.bincount.default"
  std::string reason;              // the error of lowering, without the place
  std::string remedy;              // what to write instead
  std::vector<std::string> lines;  // lines of the user's model, each once: "model.py:12"
  size_t calls = 0;
};

struct Blockers {
  std::vector<Blocker> all;  // sorted by the number of calls; ties are in graph order
  // The error that remains if inputs replace the results of blocked calls. Empty if the model can
  // then be lowered.
  std::string other_error;
  // True if the time limit ended the checks early.
  bool is_incomplete = false;
};

// Lowers each call of `program` by itself, without a backend, for at most `seconds`. Then lowers
// the model without the failed calls.
Blockers find_blockers(const aot::ExportedProgram& program, double seconds = 20);

// Suggests a replacement for calls to `op` that fail with `error`.
std::string remedy_for(std::string_view op, std::string_view error);

}  // namespace vitrine::tools
