// KeyIndex finds named data by key with a binary search.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "vitrine/budget.h"
#include "vitrine/error.h"
#include "vitrine/named_data.h"

namespace vitrine {

class KeyIndex {
 public:
  static constexpr size_t kNotFound = SIZE_MAX;

  // Sorts the keys of `map`, which must outlive the index. Takes one step for each key and for each
  // 64 bytes of a key. Returns OutOfResources if `steps` is used up, or MemoryAllocationFailed.
  Error build(const NamedDataMap& map, Budget& steps);

  // Returns the first index of `key` in the map, or kNotFound.
  size_t find(std::string_view key) const;

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  const NamedDataMap* map_ = nullptr;
  std::unique_ptr<uint32_t[], Free> sorted_;
};

}  // namespace vitrine
