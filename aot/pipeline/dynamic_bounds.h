// Sets the bounds of dynamic sizes: --dynamic narrows existing bounds, and --max-size sets missing
// ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aot/graph/exported_program.h"

namespace vitrine::aot {

struct DynamicBound {
  std::string name;            // a symbol ("s0") or a dim of an input ("x.0")
  std::optional<int64_t> min;  // if unset, the export's minimum
  int64_t max = 0;
};

// Parse "x.0=1:8" (--dynamic) and "x.0=8" (--max-size). Errors name the option.
DynamicBound parse_dynamic_bound(const std::string& text);
DynamicBound parse_max_size(const std::string& text);

// Sets the bounds of a size. Returns false if the program does not have the named symbol or input.
// Throws AotError if the size is not dynamic, or if the new bounds exceed those of the export.
bool apply(const DynamicBound& bound, ExportedProgram& program);
// The assumed maximum of input sizes that have no exported maximum (Dim.DYNAMIC, Dim.AUTO).
inline constexpr int64_t kDefaultMaxSize = 512;
// Sets the missing maximums of dynamic sizes. Returns a note for each of these sizes.
std::vector<std::string> set_missing_bounds(ExportedProgram& program);
// Returns "s0 (x.0): 1 to 8" for each symbol, separated by semicolons.
std::string describe_dynamic_sizes(const ExportedProgram& program);

}  // namespace vitrine::aot
