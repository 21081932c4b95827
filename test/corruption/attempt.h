// Loads and executes a program as a user would, within limits, and reports the stage that failed.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vitrine/backend.h"
#include "vitrine/kernel_registry.h"

namespace vitrine::test {

enum class Stage { kProgramLoad, kMethodLoad, kInputs, kExecute, kDone };

struct Outcome {
  Stage stage = Stage::kDone;  // the stage that failed
  std::string message;         // the error; empty for kDone
};

// Loads the program in `bytes` (16-byte aligned) and its first method, sets inputs of the planned
// sizes, provides memory for outputs, and executes the method twice.
Outcome attempt(std::span<const std::byte> bytes, const KernelRegistry& kernels,
                const BackendRegistry& backends);

}  // namespace vitrine::test
