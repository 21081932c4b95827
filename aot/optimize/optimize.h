// Optimizations of pte_lower --optimize beyond ExecuTorch's lowering (docs/passes.md).
#pragma once

#include <cstdint>
#include <span>

#include "aot/optimize/changes.h"

namespace vitrine::aot {

// Groups of rules (rules.h), as bits that can be combined.
enum Optimization : uint8_t {
  kFolding = 1,        // folds constants and batch norms
  kSimplifying = 2,    // removes neutral calls; replaces copies with views after delegation
  kViewing = 4,        // replaces copies with views before delegation too
  kMerging = 8,        // rewrites calls for backends, so that partitions become larger
  kSharing = 16,       // reuses the results of equal calls, which then live longer
  kUndelegating = 32,  // moves views out of delegates (economical_partitioner.h)
  kSlicing = 64,       // replaces slices by views, which keep the complete tensor alive
};
using Optimizations = uint8_t;  // a set of Optimization bits
inline constexpr Optimizations kNoOptimization = 0;

// Returns the sets of optimizations to try, in order. Callers use the first set that does not
// increase planned memory. The last set is kNoOptimization.
std::span<const Optimizations> optimization_choices();

// Optimizes an edge program. Keeps the patterns by which backends recognize layers.
void optimize_before_delegation(ExportedProgram& program, uint8_t optimizations, Changes& changes);
// Optimizes the calls that were not delegated. Kernels run these calls.
void optimize_after_delegation(ExportedProgram& program, uint8_t optimizations, Changes& changes);
// Optimizes a program that `to_executable` has processed.
void optimize_executable(ExportedProgram& program, uint8_t optimizations, Changes& changes);

}  // namespace vitrine::aot
