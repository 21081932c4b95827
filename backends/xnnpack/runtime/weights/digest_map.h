// A hash table with digests as keys and linear probing. Reports failed allocations.
#pragma once

#include "backends/xnnpack/runtime/reader/digest.h"
#include "runtime/core/checked_vector.h"

namespace vitrine::xnnpack {

// insert() ignores empty keys, and find() never finds them.
template <class T>
class DigestMap {
 public:
  struct Entry {
    Digest key;
    T value{};
  };

  const T* find(const Digest& key) const {
    if (entries_.empty() || key.empty()) return nullptr;
    const Entry& entry = entries_[slot_of(key)];
    return entry.key.empty() ? nullptr : &entry.value;
  }

  // Inserts or replaces a value. Before the table grows, drops values that satisfy `is_dead`.
  template <class IsDead>
  Error insert(const Digest& key, T value, IsDead is_dead) {
    if (key.empty()) return Error();
    if (4 * (used_ + 1) > 3 * entries_.size()) VITRINE_RETURN_IF_ERROR(grow(is_dead));
    Entry& entry = entries_[slot_of(key)];
    if (entry.key.empty()) ++used_;
    entry = {key, std::move(value)};
    return Error();
  }
  Error insert(const Digest& key, T value) {
    return insert(key, std::move(value), [](const T&) { return false; });
  }

  void clear() {
    entries_.clear();
    used_ = 0;
  }
  size_t size() const { return used_; }

  // All slots. A slot with an empty key is free.
  std::span<const Entry> slots() const { return entries_; }

 private:
  // Returns the slot of the key, or the free slot for the key. At least one slot is always free.
  size_t slot_of(const Digest& key) const {
    const size_t mask = entries_.size() - 1;
    size_t slot = static_cast<size_t>(key.low ^ (key.high >> 17)) & mask;
    while (!entries_[slot].key.empty() && entries_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  template <class IsDead>
  Error grow(IsDead is_dead) {
    size_t live = 0;
    for (const Entry& entry : entries_) {
      if (!entry.key.empty() && !is_dead(entry.value)) ++live;
    }
    size_t slots = 16;
    while (slots < 2 * (live + 1)) slots *= 2;
    DigestMap grown;
    VITRINE_RETURN_IF_ERROR(grown.entries_.resize(slots));
    for (Entry& entry : entries_) {
      if (entry.key.empty() || is_dead(entry.value)) continue;
      grown.entries_[grown.slot_of(entry.key)] = {entry.key, std::move(entry.value)};
    }
    grown.used_ = live;
    *this = std::move(grown);
    return Error();
  }

  CheckedVector<Entry> entries_;  // the size is a power of two
  size_t used_ = 0;
};

}  // namespace vitrine::xnnpack
