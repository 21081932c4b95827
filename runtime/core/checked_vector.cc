#include "runtime/core/checked_vector.h"

namespace vitrine {

Error no_memory_for(size_t count, size_t item_bytes) {
  return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu items of %zu bytes",
                     count, item_bytes);
}

}  // namespace vitrine
