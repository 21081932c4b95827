#include "backends/xnnpack/runtime/memory_reserve.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/platform/memory.h"

namespace vitrine::xnnpack {
namespace {

thread_local MemoryReserve* current_reserve = nullptr;
thread_local bool has_failed = false;

void* allocate(void*, size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr && current_reserve != nullptr) memory = current_reserve->take(bytes);
  has_failed = has_failed || memory == nullptr;
  return memory;
}

void* reallocate(void* context, void* memory, size_t bytes) {
  if (memory == nullptr) return allocate(context, bytes);
  void* moved = std::realloc(memory, bytes);
  has_failed = has_failed || moved == nullptr;
  return moved;
}

void* aligned_allocate(void*, size_t alignment, size_t bytes) {
  void* const memory = platform::allocate_aligned(alignment, bytes);
  has_failed = has_failed || memory == nullptr;
  return memory;
}

void deallocate(void*, void* memory) { std::free(memory); }

}  // namespace

const xnn_allocator& reserving_allocator() {
  static constexpr xnn_allocator kAllocator = {nullptr,    allocate,         reallocate,
                                               deallocate, aligned_allocate, deallocate};
  return kAllocator;
}

void forget_failed_allocations() { has_failed = false; }
bool allocations_have_failed() { return has_failed; }

MemoryReserve::MemoryReserve(size_t count, size_t bytes) : bytes_(bytes) {
  ok_ = blocks_.resize(count).ok();
  for (void*& block : blocks_) {
    block = std::malloc(bytes);
    ok_ = ok_ && block != nullptr;
  }
  current_reserve = this;
}

MemoryReserve::~MemoryReserve() {
  current_reserve = nullptr;
  for (void* block : blocks_) std::free(block);
}

void* MemoryReserve::take(size_t bytes) {
  if (bytes > bytes_) return nullptr;
  const auto block = std::ranges::find_if(blocks_, [](void* each) { return each != nullptr; });
  return block != blocks_.end() ? std::exchange(*block, nullptr) : nullptr;
}

}  // namespace vitrine::xnnpack
