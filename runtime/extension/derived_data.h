// DerivedData keeps data that kernels derive from constants, such as packed weights. It belongs to
// one Method and is not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vitrine/backend.h"
#include "vitrine/budget.h"

namespace vitrine {

class DerivedData {
 public:
  // The memory counts toward `budget`, which must outlive this object.
  explicit DerivedData(Budget& budget) : budget_(budget) {}
  ~DerivedData();
  DerivedData(const DerivedData&) = delete;
  DerivedData& operator=(const DerivedData&) = delete;

  // Returns `bytes` bytes, 64-byte aligned. Calls with equal arguments return the same memory. The
  // first such call sets `is_new`, and its memory is uninitialized.
  //
  // Returns null and clears `is_new` if `bytes` exceeds half of the remaining budget. Kernels need
  // the other half for temporary memory. Returns null and sets `is_new` if the system has no memory
  // left.
  void* find_or_add(const void* constant, uint64_t key, size_t bytes, bool& is_new);

  void report_memory(DelegateMemory& memory) const;

 private:
  struct Block;
  static constexpr size_t kLists = 64;

  Budget& budget_;
  Block* lists_[kLists] = {};  // linked lists, by the hash of a constant's address
};

}  // namespace vitrine
