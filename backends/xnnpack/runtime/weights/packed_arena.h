// Holds many blocks of packed weights in one allocation, so that small blocks share huge pages.
// Without huge pages, page faults would take as long as the packing. The memory is zeroed, because
// packing does not write padding (XNNPACK-zeroed-weights.patch).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

namespace vitrine::xnnpack {

// Not thread-safe.
class PackedArena {
 public:
  // Makes an arena for `blocks` blocks of `size` bytes in total, plus their alignment and slack.
  // Returns null if memory runs out.
  static std::shared_ptr<PackedArena> make(size_t size, size_t blocks);

  // Returns a 64-byte aligned, zeroed block that is followed by kReadableSlack readable bytes.
  // Returns null if the arena is full.
  void* take(size_t size);
  // Frees the space of `block` if it is the last block that was taken.
  void give_back(const void* block);

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  PackedArena(std::unique_ptr<void, Free> memory, std::span<std::byte> bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}

  std::unique_ptr<void, Free> memory_;
  std::span<std::byte> bytes_;  // aligned part of the memory
  size_t used_ = 0;
  size_t last_ = 0;  // offset of the last block
};

}  // namespace vitrine::xnnpack
