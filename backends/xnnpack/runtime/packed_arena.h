// Memory for packed weights, block after block. The many small blocks of a large model then lie in
// huge pages: a fault for each small page takes as long as packing it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace vitrine::xnnpack {

// One thread at a time.
class PackedArena {
 public:
  // Room for blocks of `size` bytes together, and for what aligns them. Null if there is no memory.
  static std::shared_ptr<PackedArena> make(size_t size, size_t blocks);

  // 64-byte aligned, with slack behind (kReadableSlack). Null if there is no room.
  void* take(size_t size);
  // Makes room again, if nothing was taken after `block`.
  void give_back(const void* block);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  PackedArena(void* memory, size_t size) : memory_(memory), size_(size) {}

  std::unique_ptr<void, Free> memory_;
  size_t size_;
  size_t used_ = 0;
  size_t last_ = 0;  // where the last block begins
};

}  // namespace vitrine::xnnpack
