// Uses a file in all ways that a user would, within limits, and reports how far it came.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

enum class Stage { kProgramLoad, kMethodLoad, kInputs, kExecute, kDone };

struct Outcome {
  Stage stage = Stage::kDone;  // where it failed
  std::string message;         // of the error; empty for kDone
};

// Loads the program of `bytes` (16-byte aligned), loads its first method, gives it inputs of the
// planned sizes and memory for its outputs, and executes it twice.
Outcome attempt(std::span<const std::byte> bytes, const KernelRegistry& kernels,
                const BackendRegistry& backends);

}  // namespace vitrine::test
