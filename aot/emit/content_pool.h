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

// Returns the tensor's elements in the given dim order, which lists the outermost dim first. Does
// not copy if the bytes are already in that order.
SharedBytes bytes_in_order(const TensorData& data, const std::vector<uint8_t>& dim_order);

class ContentPool {
 public:
  // Adds the bytes, unless the pool already contains equal bytes, and returns the index of their
  // entry. Equal bytes have the same index.
  size_t add(SharedBytes content);
  const std::vector<SharedBytes>& entries() const { return entries_; }

 private:
  std::vector<SharedBytes> entries_;
  std::unordered_map<std::string_view, size_t> positions_;  // compares hash, then bytes
};

}  // namespace vitrine::aot
