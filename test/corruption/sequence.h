// Uses a program as no careful user would: several instances of its methods, calls in any order,
// inputs of other shapes, memory that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

struct SequenceCounts {
  int loads = 0;
  int executions = 0;  // without an error
};

// Loads the program of `bytes` (16-byte aligned) and makes `steps` calls that `seed` decides. All
// memory that calls give is guarded, and poison or zeros (docs/fuzzing.md).
SequenceCounts run_sequence(std::span<const std::byte> bytes, uint64_t seed, int steps,
                            const KernelRegistry& kernels, const BackendRegistry& backends);

}  // namespace vitrine::test
