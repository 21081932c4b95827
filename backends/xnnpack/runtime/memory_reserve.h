// What keeps XNNPACK from using memory that it did not get.
//
// XNNPACK 4ea82e5 plans the memory of a runtime with three lists that it allocates and does not
// look at before it writes to them. So its allocations go through an allocator of ours, which has
// blocks in reserve for them.
#pragma once

#include <xnnpack.h>

#include <array>
#include <cstddef>

namespace vitrine::xnnpack {

// For xnn_initialize(). The heap, and behind it the reserve of the calling thread.
const xnn_allocator& reserving_allocator();

// The calling thread's reserve, for this object's life. One at a time.
class MemoryReserve {
 public:
  // Three blocks of `bytes`.
  explicit MemoryReserve(size_t bytes);
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  // Whether there was memory for it.
  bool ok() const { return ok_; }
  // Null if nothing of that size is left. Freed by the one who gets it.
  void* take(size_t bytes);

 private:
  std::array<void*, 3> blocks_{};
  size_t bytes_;
  bool ok_ = true;
};

}  // namespace vitrine::xnnpack
