// MemoryAllocator and HeapArena allocate the runtime's memory. They return null instead of
// throwing. They are not thread-safe: each Method has its own allocators.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "vitrine/budget.h"

namespace vitrine {

class MemoryAllocator {
 public:
  virtual ~MemoryAllocator() = default;

  // `alignment` must be a power of two. Returns null if no memory is left. The memory is valid
  // until the allocator is reset or destroyed.
  virtual void* allocate(size_t bytes, size_t alignment) = 0;

  // Returns `count` value-initialized objects, whose destructors will not run. The span is empty if
  // `count` is 0 or no memory is left.
  template <class T>
  std::span<T> allocate_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    constexpr size_t kItemBytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression)
    T* first = static_cast<T*>(allocate_items(count, kItemBytes, alignof(T)));
    if (first == nullptr) return {};
    for (T* next = first; next != first + count; ++next) new (next) T();
    return {first, count};
  }

 private:
  // Returns null if `count` is 0 or no memory is left.
  void* allocate_items(size_t count, size_t bytes, size_t alignment);
};

// A bump allocator with chunks from the heap. If several chunks were in use at a reset(), the next
// chunk is as large as all of them together. Code that repeats the same allocations thus soon stops
// using the heap.
class HeapArena final : public MemoryAllocator {
 public:
  // Chunks are charged to `budget`, which must outlive the arena. Null means no limit.
  explicit HeapArena(size_t chunk_bytes = 16384, Budget* budget = nullptr)
      : chunk_bytes_(chunk_bytes), budget_(budget) {}
  ~HeapArena() override;
  HeapArena(const HeapArena&) = delete;
  HeapArena& operator=(const HeapArena&) = delete;

  void* allocate(size_t bytes, size_t alignment) override;
  void reset();
  // True if reset() would have no effect.
  bool empty() const { return used_ == 0 && (chunks_ == nullptr || chunks_->next == nullptr); }

  // A position in the arena, for rewind(). Marks may nest.
  struct Mark {
    const void* chunk;
    size_t used;
  };
  Mark mark() const { return {chunks_, used_}; }
  // Frees everything that was allocated after the mark. A single newer chunk is kept for reuse.
  // Several newer chunks are returned to the heap, and the next chunk will be at least as large as
  // all of them together, if the memory budget allows.
  void rewind(const Mark& mark);

  // Bytes of all chunks.
  size_t reserved() const { return reserved_; }
  // The largest value of reserved() so far.
  size_t max_reserved() const { return max_reserved_; }

 private:
  struct Chunk {
    Chunk* next;
    size_t bytes;  // usable bytes after this header
  };
  // Frees the chunks that were added after `last`, and returns their size in bytes.
  size_t release(const void* last);

  size_t chunk_bytes_;  // minimum size of a chunk, unless less is left of the budget
  Budget* budget_;
  size_t reserved_ = 0;
  size_t max_reserved_ = 0;
  Chunk* chunks_ = nullptr;  // list of chunks, the newest first; allocations use only the newest
  size_t used_ = 0;          // used bytes of the newest chunk
};

}  // namespace vitrine
