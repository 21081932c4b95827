// A pool of byte strings that stores equal strings only once.
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

// A span of bytes, and the object that keeps the bytes alive.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Returns the elements in a dim order (outermost dim first). Copies only if the order differs.
SharedBytes bytes_in_order(const TensorData& data, const std::vector<uint8_t>& dim_order);

class ContentPool {
 public:
  // Adds the bytes unless the pool has equal bytes. Returns the index of the entry.
  size_t add(SharedBytes content);
  const std::vector<SharedBytes>& entries() const { return entries_; }

 private:
  std::vector<SharedBytes> entries_;
  std::unordered_map<std::string_view, size_t> positions_;  // compares hash, then bytes
};

}  // namespace vitrine::aot
