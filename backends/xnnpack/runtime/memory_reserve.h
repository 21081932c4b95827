// What keeps XNNPACK from using memory that it did not get.
//
// XNNPACK 4ea82e5 plans the memory of a runtime with three lists that it allocates and does not
// look at before it writes to them, and so it does with a list for each convolution that is
// quantised dynamically. Elsewhere it forgets to fail when an allocation does. So its allocations
// go through an allocator of ours, which has blocks in reserve for the former and remembers the
// latter. They also bound the workspace, which XNNPACK sizes and allocates in one go.
#pragma once

#include <xnnpack.h>

#include <cstddef>

#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// For xnn_initialize(). The heap, and behind it the reserve of the calling thread.
const xnn_allocator& reserving_allocator();

// The calling thread's reserve, for this object's life. One at a time.
class MemoryReserve {
 public:
  // No workspace gets larger than `max_workspace_bytes`.
  explicit MemoryReserve(size_t max_workspace_bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // A block of this size. False if there is no memory for it.
  bool add(size_t bytes);
  // The smallest that is left of those that are large enough; null if none is. So there is one for
  // each request if there was one for each. Freed by the one who gets it.
  void* take(size_t bytes);

  // Memory is planned with lists, the first allocations of their kind in a reshape; what comes
  // aligned after them is the workspace.
  void note_list() { plans_ = true; }
  // Whether that may be allocated; notes if not.
  bool allows_aligned(size_t bytes);
  // What was refused; 0: nothing.
  size_t refused_bytes() const { return refused_bytes_; }

 private:
  struct Block {
    void* memory;  // null: it was taken
    size_t bytes;
  };
  CheckedVector<Block> blocks_;
  size_t max_workspace_bytes_;
  size_t refused_bytes_ = 0;
  bool plans_ = false;
};

// Forgets that allocations of the calling thread's failed.
void forget_failed_allocations();
// Whether one did since.
bool allocations_have_failed();

// Calls XNNPACK. A success is none if an allocation failed meanwhile.
template <class Call>
xnn_status call_xnnpack(Call call) {
  forget_failed_allocations();
  const xnn_status status = call();
  return status == xnn_status_success && allocations_have_failed() ? xnn_status_out_of_memory
                                                                   : status;
}

}  // namespace vitrine::xnnpack
