#include "backends/xnnpack/runtime/weights/packed_arena.h"

#include <algorithm>
#include <cstdint>
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
  size_t all = 0;
  if (mul_overflows(blocks, kBlockOverhead, &overhead) || add_overflows(size, overhead, &bytes)) {
    return nullptr;
  }
  bytes = platform::fill_huge_page(bytes);
  const size_t alignment = bytes < platform::kHugePage ? kBlockAlignment : platform::kHugePage;
  if (add_overflows(bytes, alignment, &all)) return nullptr;
  // Fresh memory from the system is already zero, so calloc() does not write to it.
  std::unique_ptr<void, Free> memory(std::calloc(1, all));
  if (!memory) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory.get());
  auto* const begin = static_cast<std::byte*>(memory.get()) + (alignment - address % alignment);
  platform::prefer_huge_pages({begin, bytes});
  return share(std::unique_ptr<PackedArena>(new (std::nothrow)
                                                PackedArena(std::move(memory), {begin, bytes})));
}

void* PackedArena::take(size_t size) {
  const size_t left = bytes_.size() - used_;
  if (left < kBlockOverhead || size > left - kBlockOverhead) return nullptr;
  last_ = used_;
  used_ += (size + kBlockOverhead - 1) / kBlockAlignment * kBlockAlignment;
  return bytes_.data() + last_;
}

void PackedArena::give_back(const void* block) {
  if (block != bytes_.data() + last_) return;
  std::ranges::fill(bytes_.subspan(last_, used_ - last_), std::byte{0});
  used_ = last_;
}

}  // namespace vitrine::xnnpack
