// DerivedData keeps data that kernels derive from constants of a program, such as packed weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vitrine/backend.h"
#include "vitrine/budget.h"

namespace vitrine {

// A DerivedData belongs to one Method and is not thread-safe.
class DerivedData {
 public:
  // The memory is charged to `budget`, which must outlive the object.
  explicit DerivedData(Budget& budget) : budget_(budget) {}
  ~DerivedData();
  DerivedData(const DerivedData&) = delete;
  DerivedData& operator=(const DerivedData&) = delete;

  // Returns `bytes` bytes of memory, 64-byte aligned. Calls with equal arguments return the same
  // memory. The first of these calls sets `is_new` and returns uninitialized memory. Returns null
  // and clears `is_new` if `bytes` exceeds half of what is left of the budget. The other half is
  // reserved for the temporary memory of kernels. Returns null and sets `is_new` if the system has
  // no memory left.
  void* find_or_add(const void* constant, uint64_t key, size_t bytes, bool& is_new);

  void report_memory(DelegateMemory& memory) const;

 private:
  struct Block;
  static constexpr size_t kLists = 64;

  Budget& budget_;
  Block* lists_[kLists] = {};  // linked lists, by a hash of the constant's address
};

}  // namespace vitrine
