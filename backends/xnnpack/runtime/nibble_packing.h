// Packs weights of 4 bits with a scale a block as XNNPACK does, to the same bytes, in a quarter of
// the time. Of a language model that is most of what loading takes.
#pragma once

#include <cstddef>

namespace vitrine {
class ThreadPool;
}

namespace vitrine::xnnpack {

// As xnn_packw_gemm_goi_bl_ukernel_fn. `kernel` has `rows` of `columns` numbers for each group, two
// in a byte, the first in its low half; `scales` a bf16 for each `block` of a row; `params` is an
// xnn_qs8_qc4w_packing_params. Packed memory is zero before.
using PackNibbles = void (*)(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr,
                             size_t sr, size_t block, const void* kernel, const void* bias,
                             const void* scales, void* packed, size_t extra_bytes_of_block,
                             size_t extra_bytes_of_row, const void* params);

// XNNPACK's own, and the one that calls it for layouts that it does not know. Null in builds
// without XNNPACK's private headers.
PackNibbles xnnpack_nibble_packing();
PackNibbles fast_nibble_packing();

// While it lives, the calling thread packs with the threads of `pool`; null: alone.
class PackingThreads {
 public:
  explicit PackingThreads(ThreadPool* pool);
  ~PackingThreads();
  PackingThreads(const PackingThreads&) = delete;
  PackingThreads& operator=(const PackingThreads&) = delete;
};

// Makes XNNPACK use it. XNNPACK is initialised, and no other thread uses it yet.
void use_fast_nibble_packing();

}  // namespace vitrine::xnnpack
