// How full planned memory is while a method runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct MemoryUse {
  std::vector<uint64_t> live_bytes;  // by instruction
  int32_t peak_instruction = 0;      // the first of the fullest; 0 without instructions
  uint64_t peak_bytes = 0;
  std::vector<size_t> peak_tensors;  // alive then: positions in the plan, largest first
};

// Tensors that begin at the same place while both are alive are one storage (a value and a view of
// it), as large as the larger.
MemoryUse memory_over_time(const MemoryPlan& plan);

}  // namespace vitrine::inspector
