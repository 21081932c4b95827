#include "backends/xnnpack/runtime/memory_reserve.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace vitrine::xnnpack {
namespace {

thread_local MemoryReserve* current_reserve = nullptr;

void* allocate(void*, size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory != nullptr || current_reserve == nullptr) return memory;
  return current_reserve->take(bytes);
}

void* reallocate(void*, void* memory, size_t bytes) { return std::realloc(memory, bytes); }

void* aligned_allocate(void*, size_t alignment, size_t bytes) {
  void* memory = nullptr;
  return ::posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

void deallocate(void*, void* memory) { std::free(memory); }

}  // namespace

const xnn_allocator& reserving_allocator() {
  static constexpr xnn_allocator kAllocator = {nullptr,    allocate,         reallocate,
                                               deallocate, aligned_allocate, deallocate};
  return kAllocator;
}

MemoryReserve::MemoryReserve(size_t bytes) : bytes_(bytes) {
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
