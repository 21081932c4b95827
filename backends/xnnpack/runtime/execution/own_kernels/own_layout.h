#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/optimized/simd/gemm.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack::own_kernels {

// Returns the identifier of a weight layout in a cache of packed weights. `winograd_tile` is the
// tile size of Winograd's algorithm, or 0 for other kernels. The identifier need not contain the
// kernel: the cache also identifies a block by its filter, and the filter's node determines the
// kernel. Increase kVersion if a layout changes: files may contain blocks in the old layout.
inline uint32_t own_layout(int64_t winograd_tile = 0) {
  constexpr uint32_t kOwn = 0x56000000;  // distinguishes own layouts from XNNPACK's seeds
  constexpr uint32_t kVersion = 1;
  return kOwn | kVersion << 16 | static_cast<uint32_t>(winograd_tile) << 8 |
         static_cast<uint32_t>(optimized::simd::gemm_shape().lanes);
}

inline Error no_memory(size_t bytes) {
  return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu bytes of weights",
                     bytes);
}

}  // namespace vitrine::xnnpack::own_kernels
