#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inspector/join/profile.h"

namespace vitrine::inspector {

struct MemoryUse {
  std::vector<uint64_t> live_bytes;  // indexed by instruction
  int32_t peak_instruction = 0;  // the first instruction with peak_bytes; 0 without instructions
  uint64_t peak_bytes = 0;
  std::vector<size_t> peak_tensors;  // indices of the tensors alive at the peak, largest first
};

// Computes the use of planned memory during a run. Tensors that start at the same offset and are
// alive at the same time (a value and its view) count as one storage, as large as the larger
// tensor.
MemoryUse memory_over_time(const MemoryPlan& plan);

}  // namespace vitrine::inspector
