#include "vitrine/backend.h"

#include <new>
#include <utility>

namespace vitrine {
namespace {

// Returns the slot of `block` in the hash table `seen`, or a free slot. Precondition: the table has
// a free slot.
size_t slot_of(const void* block, const void* const* seen, size_t slots) {
  size_t slot = static_cast<size_t>(reinterpret_cast<uintptr_t>(block) / 16 * 0x9E3779B9u);
  while (seen[slot & (slots - 1)] != nullptr && seen[slot & (slots - 1)] != block) ++slot;
  return slot & (slots - 1);
}

}  // namespace

void DelegateMemory::add(Kind kind, const void* block, size_t bytes) {
  if (is_new(block)) bytes_[static_cast<size_t>(kind)] += bytes;
}

bool DelegateMemory::is_new(const void* block) {
  if (2 * (used_ + 1) > slots_) {
    const size_t slots = slots_ == 0 ? 64 : 2 * slots_;
    std::unique_ptr<const void*[]> grown(new (std::nothrow) const void*[slots]());
    if (!grown) return true;
    for (size_t i = 0; i < slots_; ++i) {
      if (seen_[i] != nullptr) grown[slot_of(seen_[i], grown.get(), slots)] = seen_[i];
    }
    seen_ = std::move(grown);
    slots_ = slots;
  }
  const void*& slot = seen_[slot_of(block, seen_.get(), slots_)];
  if (slot == block) return false;
  slot = block;
  ++used_;
  return true;
}

Error BackendRegistry::add(const BackendInterface* backend) {
  if (find(backend->id()) != nullptr) {
    return Error::make(ErrorCode::kRegistrationAlreadyRegistered,
                       "backend %s is already registered", backend->id());
  }
  if (count_ == backends_.size()) {
    return Error::make(ErrorCode::kOutOfResources,
                       "cannot register backend %s: at most %zu backends are supported",
                       backend->id(), backends_.size());
  }
  backends_[count_++] = backend;
  return Error();
}

const BackendInterface* BackendRegistry::find(std::string_view id) const {
  for (size_t i = 0; i < count_; ++i) {
    if (id == backends_[i]->id()) return backends_[i];
  }
  return nullptr;
}

}  // namespace vitrine
