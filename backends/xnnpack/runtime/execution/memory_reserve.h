// Protects against allocation failures that XNNPACK does not check for.
//
// To plan the memory of a runtime, XNNPACK 4ea82e5 allocates three lists and writes to them without
// checking that the allocations succeeded. XNNPACK 4ea82e5 and 92a7ad5 also do not check a list
// that each dynamically quantized convolution allocates, and ignore failed allocations in other
// places. So XNNPACK uses Vitrine's allocator, which keeps blocks in reserve for these lists and
// records failures. Test: FaultWalkTest. The allocator also bounds the workspace. Its size cannot
// be checked earlier, because XNNPACK computes the size and allocates the workspace in one step.
#pragma once

#include <xnnpack.h>

#include <cstddef>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// The allocator for xnn_initialize(). Allocates from the heap. If the heap has no memory, uses the
// reserve of the calling thread.
const xnn_allocator& reserving_allocator();

// A reserve of memory, which the calling thread uses during this object's lifetime. A thread can
// have only one reserve.
class MemoryReserve {
 public:
  // Bounds the workspace to `max_workspace_bytes`.
  explicit MemoryReserve(size_t max_workspace_bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // Adds a block of `bytes` bytes to the reserve. Returns false if memory runs out.
  bool add(size_t bytes);
  // Returns the smallest remaining block of at least `bytes` bytes, or null. If add() was called
  // with enough bytes for each request, all requests succeed, in any order. The caller frees the
  // block.
  void* take(size_t bytes);

  // Records an unaligned allocation. In a reshape, XNNPACK allocates the memory planner's lists
  // (unaligned) before the workspace (aligned). So allows_aligned() checks sizes only after the
  // first call of note_list().
  void note_list() { has_lists_ = true; }
  // Returns true if an aligned allocation of this size is within the bound. Otherwise, records the
  // size.
  bool allows_aligned(size_t bytes);
  // Size of the allocation that exceeded the bound; 0 if none did.
  size_t refused_bytes() const { return refused_bytes_; }

 private:
  struct Block {
    void* memory;  // null after it was taken
    size_t bytes;
  };
  CheckedVector<Block> blocks_;
  size_t max_workspace_bytes_;
  size_t refused_bytes_ = 0;
  bool has_lists_ = false;
};

// Clears the record of failed allocations of the calling thread.
void forget_failed_allocations();
// Returns true if an allocation of the calling thread has failed since forget_failed_allocations().
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
