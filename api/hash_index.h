// HashIndex finds the items of a list by their hash. An item is identified by its index in the
// list.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/checked_vector.h"

namespace vitrine {

class HashIndex {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // Returns the item with this hash for which `is_it(item)` is true, or kNone.
  template <class IsIt>
  size_t find(uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    for (size_t at = home(hash); slots_[at].item != kNone; at = next(at)) {
      if (slots_[at].hash == hash && is_it(slots_[at].item)) return slots_[at].item;
    }
    return kNone;
  }
  // Makes room for one more item.
  Error make_room();
  // Adds a new item. Precondition: make_room() has succeeded.
  void add(uint64_t hash, size_t item);
  void clear();

 private:
  struct Slot {
    uint64_t hash = 0;
    size_t item = kNone;
  };

  size_t home(uint64_t hash) const { return static_cast<size_t>(hash) & (slots_.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  CheckedVector<Slot> slots_;  // the size is 0 or a power of two; at least half are free
  size_t count_ = 0;
};

}  // namespace vitrine
