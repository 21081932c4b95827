// Makes a shared pointer, and returns null if memory runs out. In code without exceptions,
// std::make_shared would end the process.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace vitrine {
namespace internal {

inline constexpr size_t kControlBlockBytes = 128;

// An allocator that returns one block, which was allocated before.
template <class T>
struct BlockAllocator {
  using value_type = T;

  explicit BlockAllocator(void* memory) : block(memory) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other)  // NOLINT(google-explicit-constructor)
      : block(other.block) {}

  T* allocate(size_t) {
    static_assert(sizeof(T) <= kControlBlockBytes && alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(block);
  }
  void deallocate(T*, size_t) { std::free(block); }
  template <class U>
  bool operator==(const BlockAllocator<U>& other) const {
    return block == other.block;
  }

  void* block;
};

}  // namespace internal

// Turns a unique pointer into a shared pointer. Returns null if `owned` is null. If memory runs
// out, destroys the object and returns null.
template <class T>
std::shared_ptr<T> share(std::unique_ptr<T> owned) {
  void* block = owned ? std::malloc(internal::kControlBlockBytes) : nullptr;
  if (block == nullptr) return nullptr;
  return std::shared_ptr<T>(owned.release(), std::default_delete<T>(),
                            internal::BlockAllocator<T>(block));
}

}  // namespace vitrine
