// Finds the items of a list by their hash.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/checked_vector.h"

namespace vitrine {

// By place in the list. Takes constant time while hashes are spread over all of their bits.
class HashIndex {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  // The item with that hash of which `is_it(item)` is true. kNone if there is none.
  template <class IsIt>
  size_t find(uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    for (size_t at = home(hash); slots_[at].item != kNone; at = next(at)) {
      if (slots_[at].hash == hash && is_it(slots_[at].item)) return slots_[at].item;
    }
    return kNone;
  }
  // For one more item. If there is no memory for it, the index stays as it was.
  Error make_room();
  // After make_room(); for an item that is not there.
  void add(uint64_t hash, size_t item);
  void clear();

 private:
  struct Slot {
    uint64_t hash = 0;
    size_t item = kNone;
  };

  size_t home(uint64_t hash) const { return static_cast<size_t>(hash) & (slots_.size() - 1); }
  size_t next(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  CheckedVector<Slot> slots_;  // none or a power of two; at least half of them are free
  size_t count_ = 0;
};

}  // namespace vitrine
