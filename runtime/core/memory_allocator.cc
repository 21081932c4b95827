#include "vitrine/memory_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/core/checked_math.h"

namespace vitrine {
namespace {

size_t padding(const void* base, size_t used, size_t alignment) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(base) + used;
  return (alignment - (address & (alignment - 1))) & (alignment - 1);
}

}  // namespace

void* MemoryAllocator::allocate_items(size_t count, size_t bytes, size_t alignment) {
  size_t total = 0;
  if (count == 0 || mul_overflows(count, bytes, &total)) return nullptr;
  return allocate(total, alignment);
}

HeapArena::~HeapArena() { release(nullptr); }

size_t HeapArena::release(const void* last) {
  size_t bytes = 0;
  while (chunks_ != last) {
    bytes += chunks_->bytes;
    std::free(std::exchange(chunks_, chunks_->next));
  }
  if (budget_ != nullptr) budget_->give_back(bytes);
  reserved_ -= bytes;
  return bytes;
}

void* HeapArena::allocate(size_t bytes, size_t alignment) {
  if (chunks_ != nullptr) {
    std::byte* base = reinterpret_cast<std::byte*>(chunks_ + 1);
    const size_t skip = padding(base, used_, alignment);
    const size_t left = chunks_->bytes - used_;
    if (skip <= left && bytes <= left - skip) {
      used_ += skip + bytes;
      return base + (used_ - bytes);
    }
  }
  size_t wanted = 0;
  if (add_overflows(bytes, alignment, &wanted)) return nullptr;
  const uint64_t left = budget_ != nullptr ? budget_->left() : UINT64_MAX;
  wanted = std::max(wanted, static_cast<size_t>(std::min<uint64_t>(chunk_bytes_, left)));
  size_t with_header = 0;
  if (add_overflows(wanted, sizeof(Chunk), &with_header)) return nullptr;
  if (budget_ != nullptr && !budget_->take(wanted)) return nullptr;
  void* memory = std::malloc(with_header);
  if (memory == nullptr) {
    if (budget_ != nullptr) budget_->give_back(wanted);
    return nullptr;
  }
  chunks_ = new (memory) Chunk{chunks_, wanted};
  reserved_ += wanted;
  max_reserved_ = std::max(max_reserved_, reserved_);
  std::byte* base = reinterpret_cast<std::byte*>(chunks_ + 1);
  const size_t skip = padding(base, 0, alignment);
  used_ = skip + bytes;
  return base + skip;
}

void HeapArena::reset() {
  used_ = 0;
  if (chunks_ == nullptr || chunks_->next == nullptr) return;
  chunk_bytes_ = std::max(chunk_bytes_, release(nullptr));
}

void HeapArena::rewind(const Mark& mark) {
  used_ = 0;
  if (chunks_ != mark.chunk && chunks_->next != mark.chunk) {
    chunk_bytes_ = std::max(chunk_bytes_, release(mark.chunk));
  }
  if (chunks_ == mark.chunk) used_ = mark.used;
}

}  // namespace vitrine
