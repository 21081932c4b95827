// Graphs better than stock lowering's: what pte_lower --optimize adds (docs/passes.md).
#pragma once

#include <cstdint>
#include <span>

#include "aot/optimise/changes.h"

namespace vitrine::aot {

// Groups of rules. A set of them is the sum of its members.
enum Optimisation : uint8_t {
  kFolding = 1,        // what depends on constants alone, batch norms
  kSimplifying = 2,    // calls that do nothing, safe softmax, scales; views for kernels
  kViewing = 4,        // views for backends too
  kMerging = 8,        // forms that backends take, so that partitions become larger
  kSlicing = 64,       // parts of tensors as views, so that the whole lives as long
  kUndelegating = 32,  // views leave delegates (economical_partitioner.h)
  kSharing = 16,       // calls that repeat an earlier one, whose result lives longer then
};
inline constexpr uint8_t kNoOptimisation = 0;

// What to try in turn until planned memory is no larger than without. The last tries none.
std::span<const uint8_t> optimisation_choices();

// In the edge dialect, before delegation. Keeps what backends recognise layers by.
void optimise_before_delegation(ExportedProgram& program, uint8_t optimisations, Changes& changes);
// After it: what is left is for kernels.
void optimise_after_delegation(ExportedProgram& program, uint8_t optimisations, Changes& changes);
// As `to_executable` leaves it.
void optimise_executable(ExportedProgram& program, uint8_t optimisations, Changes& changes);

}  // namespace vitrine::aot
