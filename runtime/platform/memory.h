// How much memory this process has.
#pragma once

#include <cstdint>

namespace vitrine::platform {

// Resident bytes, including mapped files; 0 if unknown.
struct ResidentMemory {
  uint64_t now = 0;
  uint64_t peak = 0;
};
ResidentMemory resident_memory();

// What the machine has; UINT64_MAX if the system does not tell.
uint64_t machine_memory();

}  // namespace vitrine::platform
