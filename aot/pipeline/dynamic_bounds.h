// Bounds of dynamic sizes, given anew: --dynamic.
#pragma once

#include <cstdint>
#include <string>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct DynamicBound {
  std::string name;  // a symbol, "s0", or a size of an input, "x.0"
  int64_t min = 0;
  int64_t max = 0;
};

// "s0=1:8" or "x.0=1:8". Throws AotError.
DynamicBound parse_dynamic_bound(const std::string& text);

// Bounds may only become narrower: the export holds for no others. False if the program has neither
// such a symbol nor such an input; AotError if the bounds are wider, or the size is not dynamic.
bool apply(const DynamicBound& bound, ExportedProgram& program);
// "s0 (x.0): 1 to 8", one a symbol.
std::string describe_dynamic_sizes(const ExportedProgram& program);

}  // namespace vitrine::aot
