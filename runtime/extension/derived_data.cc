#include "runtime/extension/derived_data.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "runtime/core/checked_math.h"
#include "runtime/platform/memory.h"

namespace vitrine {

namespace {

constexpr size_t kDataAlignment = 64;

}  // namespace

// The header of an allocation. The data begins at the next multiple of kDataAlignment.
struct DerivedData::Block {
  Block* next;
  const void* constant;
  uint64_t key;
  size_t bytes;
  size_t reserved;  // bytes of the entire allocation

  void* data() {
    const auto end = reinterpret_cast<uintptr_t>(this + 1);
    return reinterpret_cast<std::byte*>(this + 1) + (-end & (kDataAlignment - 1));
  }
};

DerivedData::~DerivedData() {
  for (Block* block : lists_) {
    while (block != nullptr) {
      budget_.give_back(block->reserved);
      std::free(std::exchange(block, block->next));
    }
  }
}

void* DerivedData::find_or_add(const void* constant, uint64_t key, size_t bytes, bool& is_new) {
  is_new = false;
  Block*& first = lists_[reinterpret_cast<uintptr_t>(constant) / 16 % kLists];
  for (Block* block = first; block != nullptr; block = block->next) {
    if (block->constant == constant && block->key == key && block->bytes == bytes) {
      return block->data();
    }
  }
  size_t reserved = 0;
  if (add_overflows(bytes, sizeof(Block) + kDataAlignment, &reserved) ||
      reserved > budget_.left() / 2 || !budget_.take(reserved)) {
    return nullptr;
  }
  is_new = true;
  void* const memory = std::malloc(reserved);
  if (memory == nullptr) {
    budget_.give_back(reserved);
    return nullptr;
  }
  platform::prefer_huge_pages({static_cast<std::byte*>(memory), reserved});
  first = new (memory) Block{first, constant, key, bytes, reserved};
  return first->data();
}

void DerivedData::report_memory(DelegateMemory& memory) const {
  for (const Block* first : lists_) {
    for (const Block* block = first; block != nullptr; block = block->next) {
      memory.add(DelegateMemory::Kind::kPackedWeights, block, block->reserved);
    }
  }
}

}  // namespace vitrine
