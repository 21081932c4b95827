// One allocation for many blocks of packed weights. The many small blocks of a large model then
// share huge pages. With small pages, the page faults would take as long as the packing.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace vitrine::xnnpack {

// Not thread-safe.
class PackedArena {
 public:
  // Makes an arena for `blocks` blocks of `size` bytes in total, plus their alignment and slack.
  // Null if memory runs out.
  static std::shared_ptr<PackedArena> make(size_t size, size_t blocks);

  // Returns a 64-byte aligned block that is followed by kReadableSlack readable bytes. Null if the
  // arena is full.
  void* take(size_t size);
  // Frees the space of `block` if it is the last block that was taken.
  void give_back(const void* block);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  PackedArena(void* memory, size_t size) : memory_(memory), size_(size) {}

  std::unique_ptr<void, Free> memory_;
  size_t size_;
  size_t used_ = 0;
  size_t last_ = 0;  // offset of the last block
};

}  // namespace vitrine::xnnpack
