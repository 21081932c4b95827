// Where the runtime's memory comes from. Nothing here throws; exhaustion is a null pointer.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>

#include "vitrine/budget.h"

namespace vitrine {

// Not thread-safe; each Method has separate allocators.
class MemoryAllocator {
 public:
  virtual ~MemoryAllocator() = default;

  // `alignment` is a power of two. Null if there is no memory left. The memory belongs to the
  // allocator and lives until it is reset or destroyed.
  virtual void* allocate(size_t bytes, size_t alignment) = 0;

  // `count` value-initialised objects whose destructors will not run. Empty on exhaustion, so ask
  // only for count > 0 when it matters.
  template <class T>
  std::span<T> allocate_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    T* first = static_cast<T*>(allocate_items(count, sizeof(T), alignof(T)));
    if (first == nullptr) return {};
    for (T* next = first; next != first + count; ++next) new (next) T();
    return {first, count};
  }

 private:
  // Null also for count == 0. Out of line, since each user's type makes an allocate_array of its
  // own.
  void* allocate_items(size_t count, size_t bytes, size_t alignment);
};

// Bump allocation in chunks from the heap. After a reset() of several chunks, the next chunk is as
// large as all of them together. A user who repeats the same allocations therefore soon stops
// allocating from the heap.
class HeapArena final : public MemoryAllocator {
 public:
  // Memory is taken from `budget`, which outlives the arena; null: no bound.
  explicit HeapArena(size_t chunk_bytes = 16384, Budget* budget = nullptr)
      : chunk_bytes_(chunk_bytes), budget_(budget) {}
  ~HeapArena() override;
  HeapArena(const HeapArena&) = delete;
  HeapArena& operator=(const HeapArena&) = delete;

  void* allocate(size_t bytes, size_t alignment) override;
  void reset();
  // Whether nothing was allocated since the last reset.
  bool empty() const { return used_ == 0 && (chunks_ == nullptr || chunks_->next == nullptr); }

  // What is allocated after a mark lives until the arena is rewound to it. Marks nest.
  struct Mark {
    const void* chunk;
    size_t used;
  };
  Mark mark() const { return {chunks_, used_}; }
  // Keeps a chunk after the mark for what comes next. The next chunk is as large as several.
  void rewind(const Mark& mark);

  // Bytes held from the heap.
  size_t reserved() const { return reserved_; }
  // The most that was held at once.
  size_t most_reserved() const { return most_reserved_; }

 private:
  struct Chunk {
    Chunk* next;
    size_t bytes;  // usable, after this header
  };
  // Frees the chunks after `last`, and gives their bytes.
  size_t release(const void* last);

  size_t chunk_bytes_;  // the least that is taken at once, if the budget allows it
  Budget* budget_;
  size_t reserved_ = 0;
  size_t most_reserved_ = 0;
  Chunk* chunks_ = nullptr;  // the one in use first
  size_t used_ = 0;          // of the first chunk
};

}  // namespace vitrine
