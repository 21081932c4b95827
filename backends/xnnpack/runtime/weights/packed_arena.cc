#include "backends/xnnpack/runtime/weights/packed_arena.h"

#include <new>

#include "runtime/core/checked_math.h"
#include "runtime/core/share.h"
#include "runtime/platform/memory.h"
#include "vitrine/tensor.h"

namespace vitrine::xnnpack {
namespace {

constexpr size_t kBlockAlignment = 64;
constexpr size_t kBlockOverhead = kReadableSlack + kBlockAlignment;

}  // namespace

std::shared_ptr<PackedArena> PackedArena::make(size_t size, size_t blocks) {
  size_t overhead = 0;
  size_t bytes = 0;
  if (mul_overflows(blocks, kBlockOverhead, &overhead) || add_overflows(size, overhead, &bytes)) {
    return nullptr;
  }
  void* const memory = platform::allocate_aligned(kBlockAlignment, bytes);
  if (memory == nullptr) return nullptr;
  std::unique_ptr<PackedArena> arena(new (std::nothrow) PackedArena(memory, bytes));
  if (!arena) std::free(memory);
  return share(std::move(arena));
}

void* PackedArena::take(size_t size) {
  const size_t left = size_ - used_;
  if (left < kBlockOverhead || size > left - kBlockOverhead) return nullptr;
  last_ = used_;
  used_ += (size + kBlockOverhead - 1) / kBlockAlignment * kBlockAlignment;
  return static_cast<std::byte*>(memory_.get()) + last_;
}

void PackedArena::give_back(const void* block) {
  if (block == static_cast<std::byte*>(memory_.get()) + last_) used_ = last_;
}

}  // namespace vitrine::xnnpack
