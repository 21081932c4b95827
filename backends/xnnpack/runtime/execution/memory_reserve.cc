#include "backends/xnnpack/runtime/execution/memory_reserve.h"

#include <cstdlib>
#include <utility>

#include "runtime/platform/memory.h"

namespace vitrine::xnnpack {
namespace {

thread_local MemoryReserve* current_reserve = nullptr;
thread_local bool has_failed = false;

void* allocate_unaligned(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr && current_reserve != nullptr) memory = current_reserve->take(bytes);
  has_failed = has_failed || memory == nullptr;
  return memory;
}

void* allocate(void*, size_t bytes) {
  if (current_reserve != nullptr) current_reserve->note_list();
  return allocate_unaligned(bytes);
}

void* reallocate(void*, void* memory, size_t bytes) {
  if (memory == nullptr) return allocate_unaligned(bytes);
  void* moved = std::realloc(memory, bytes);
  has_failed = has_failed || moved == nullptr;
  return moved;
}

void* aligned_allocate(void*, size_t alignment, size_t bytes) {
  const bool allowed = current_reserve == nullptr || current_reserve->allows_aligned(bytes);
  void* const memory = allowed ? platform::allocate_aligned(alignment, bytes) : nullptr;
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

MemoryReserve::MemoryReserve(size_t max_workspace_bytes)
    : max_workspace_bytes_(max_workspace_bytes) {
  current_reserve = this;
}

MemoryReserve::~MemoryReserve() {
  current_reserve = nullptr;
  for (const Block& block : blocks_) std::free(block.memory);
}

bool MemoryReserve::add(size_t bytes) {
  if (!blocks_.push_back({nullptr, bytes}).ok()) return false;
  blocks_.back().memory = std::malloc(bytes);
  return blocks_.back().memory != nullptr;
}

bool MemoryReserve::allows_aligned(size_t bytes) {
  if (!has_lists_ || bytes <= max_workspace_bytes_) return true;
  refused_bytes_ = bytes;
  return false;
}

void* MemoryReserve::take(size_t bytes) {
  Block* smallest = nullptr;
  for (Block& block : blocks_) {
    if (block.memory == nullptr || block.bytes < bytes) continue;
    if (smallest == nullptr || block.bytes < smallest->bytes) smallest = &block;
  }
  return smallest != nullptr ? std::exchange(smallest->memory, nullptr) : nullptr;
}

}  // namespace vitrine::xnnpack
