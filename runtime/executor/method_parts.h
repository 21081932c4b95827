#pragma once

#include <cstdint>

#include "vitrine/method.h"

namespace vitrine {

// A value that steps may replace or move to other memory. Each execution begins with the initial
// value.
struct Method::RestoredValue {
  EValue* value = nullptr;
  EValue initial;
  Tensor memory;                   // copy of the tensor with its own memory
  bool has_caller_memory = false;  // an output with memory from set_output_data()
  // True if an execution left the result outside of the caller's memory.
  bool was_moved() const;
};

struct Method::Input {
  EValue* value = nullptr;
  RestoredValue* restored = nullptr;  // null if executions do not replace the value
  bool is_set = false;
  bool is_planned = false;
  bool is_reused = false;   // an execution may overwrite the input
  bool was_reused = false;  // an execution may have overwritten the input after it was set
};

struct Method::PlannedBuffer {
  std::byte* data = nullptr;  // may be null
  uint64_t readable = 0;      // number of readable bytes from `data` on
};

struct Method::ChainSteps {
  uint32_t first;
  uint32_t count;
};

}  // namespace vitrine
