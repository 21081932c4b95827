// Packs int4 weights with a scale per block into the same bytes as XNNPACK, in a quarter of the
// time. This is most of the load time of a language model.
#pragma once

#include <cstddef>

namespace vitrine {
class ThreadPool;
}

namespace vitrine::xnnpack {

// Same as xnn_packw_gemm_goi_bl_ukernel_fn. `kernel` has `rows` rows of `columns` int4 values per
// group, two per byte, the first in the low half. `scales` has a bf16 for each `block` columns of a
// row. `params` is an xnn_qs8_qc4w_packing_params. `packed` must be zeroed.
using PackInt4 = void (*)(size_t groups, size_t rows, size_t columns, size_t nr, size_t kr,
                          size_t sr, size_t block, const void* kernel, const void* bias,
                          const void* scales, void* packed, size_t extra_bytes_of_block,
                          size_t extra_bytes_of_row, const void* params);

// XNNPACK's function, and the fast one, which calls XNNPACK's for layouts that it does not support.
// Null in builds without XNNPACK's private headers.
PackInt4 xnnpack_int4_packing();
PackInt4 fast_int4_packing();

// During its lifetime, the calling thread packs with the threads of `pool`, or alone if it is null.
class PackingThreads {
 public:
  explicit PackingThreads(ThreadPool* pool);
  ~PackingThreads();
  PackingThreads(const PackingThreads&) = delete;
  PackingThreads& operator=(const PackingThreads&) = delete;
};

// Makes XNNPACK use the fast function. Call after XNNPACK is initialized and before other threads
// use it.
void use_fast_int4_packing();

}  // namespace vitrine::xnnpack
