// Protects against failed allocations that XNNPACK does not check: three lists for memory plans
// (XNNPACK 4ea82e5), and a list of each dynamically quantized convolution (XNNPACK 4ea82e5 and
// 92a7ad5). Vitrine's allocator keeps memory in reserve for these lists and records failures. The
// allocator also bounds the workspace, whose size is unknown until XNNPACK allocates it. Test:
// FaultWalkTest.
#pragma once

#include <xnnpack.h>

#include <cstddef>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// The allocator for xnn_initialize(): the heap, and then the reserve of the calling thread.
const xnn_allocator& reserving_allocator();

// A reserve for the calling thread, during this object's lifetime. At most one per thread.
class MemoryReserve {
 public:
  explicit MemoryReserve(size_t max_workspace_bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // Returns false if memory runs out.
  bool add(size_t bytes);
  // Returns the smallest block of at least `bytes` bytes, or null. If add() was called with enough
  // bytes for each request, all requests succeed, in any order. The caller frees the block.
  void* take(size_t bytes);

  // Records an unaligned allocation. In a reshape, XNNPACK allocates the planner's lists
  // (unaligned) before the workspace (aligned). Therefore, allows_aligned() checks sizes only after
  // this call.
  void note_list() { has_lists_ = true; }
  // Returns false and records the size if an aligned allocation exceeds the bound.
  bool allows_aligned(size_t bytes);
  // Size of the allocation that exceeded the bound, or 0.
  size_t refused_bytes() const { return refused_bytes_; }

 private:
  struct Block {
    void* memory;  // null after take() returned the block
    size_t bytes;
  };
  CheckedVector<Block> blocks_;
  size_t max_workspace_bytes_;
  size_t refused_bytes_ = 0;
  bool has_lists_ = false;
};

// Clears the calling thread's record of failed allocations.
void forget_failed_allocations();
// True if an allocation of the calling thread failed since forget_failed_allocations().
bool allocations_have_failed();

// Calls XNNPACK. Returns out_of_memory instead of success if an allocation failed during the call.
template <class Call>
xnn_status call_xnnpack(Call call) {
  forget_failed_allocations();
  const xnn_status status = call();
  return status == xnn_status_success && allocations_have_failed() ? xnn_status_out_of_memory
                                                                   : status;
}

}  // namespace vitrine::xnnpack
