// A pool of byte strings that keeps one copy of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aot/graph/tensor_data.h"

namespace vitrine::aot {

// Bytes, and the object that keeps them alive.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Returns the elements in this dim order, outermost dim first. Does not copy if the tensor's bytes
// already are in that order.
SharedBytes bytes_in_order(const TensorData& data, const std::vector<uint8_t>& dim_order);

class ContentPool {
 public:
  // Returns the index of these bytes among the entries. Equal bytes get the same index.
  size_t add(SharedBytes content);
  const std::vector<SharedBytes>& entries() const { return entries_; }

 private:
  std::vector<SharedBytes> entries_;
  std::unordered_map<std::string_view, size_t> positions_;  // compares hash, then bytes
};

}  // namespace vitrine::aot
