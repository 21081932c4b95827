// Uses a program in unusual ways: several instances of its methods, calls in any order, inputs of
// other shapes, and memory that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

struct SequenceCounts {
  int loads = 0;
  int executions = 0;  // successful ones
};

// Loads the program in `bytes` (16-byte aligned) and makes `steps` pseudorandom calls. All memory
// is GuardedMemory, filled with poison or zeros (docs/fuzzing.md).
SequenceCounts run_sequence(std::span<const std::byte> bytes, uint64_t seed, int steps,
                            const KernelRegistry& kernels, const BackendRegistry& backends);

}  // namespace vitrine::test
