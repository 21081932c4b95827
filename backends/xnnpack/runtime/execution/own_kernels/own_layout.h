// The identifiers of Vitrine's layouts of weights in a cache of packed weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/optimized/simd/gemm.h"
#include "vitrine/error.h"

namespace vitrine::xnnpack::own_kernels {

// Returns the identifier of a weight layout. `winograd_tile` is the tile size of Winograd's
// algorithm, or 0 for all other kernels. The identifier need not contain the kernel, because the
// cache also identifies each block by its filter, and the node that uses the filter determines the
// kernel. Increase kVersion if a layout changes, because files of packed weights may contain blocks
// in the old layout.
inline uint32_t own_layout(int64_t winograd_tile = 0) {
  constexpr uint32_t kOwn = 0x56000000;  // distinguishes these from XNNPACK's seeds
  constexpr uint32_t kVersion = 1;
  return kOwn | kVersion << 16 | static_cast<uint32_t>(winograd_tile) << 8 |
         static_cast<uint32_t>(optimized::simd::gemm_shape().lanes);
}

inline Error no_memory(size_t bytes) {
  return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for %zu bytes of weights",
                     bytes);
}

}  // namespace vitrine::xnnpack::own_kernels
