// Finds named data by key without looking at each.
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

  // Sorts the keys of `map`, which outlives the index, once. Each key and each 64 bytes of it take
  // a step: OutOfResources beyond `steps`. MemoryAllocationFailed.
  Error build(const NamedDataMap& map, Budget& steps);

  // Its number in the map; of several of that key the first.
  size_t find(std::string_view key) const;

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  const NamedDataMap* map_ = nullptr;
  std::unique_ptr<uint32_t[], Free> sorted_;
};

}  // namespace vitrine
