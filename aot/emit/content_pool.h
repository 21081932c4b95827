// Byte strings, each kept once.
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

// Bytes and who keeps them.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// The elements in this dim order, outermost first; the tensor's own bytes where they are in that
// order already.
SharedBytes bytes_in_order(const TensorData& data, const std::vector<uint8_t>& dim_order);

class ContentPool {
 public:
  // The position of these bytes; equal bytes have one.
  size_t add(SharedBytes content);
  const std::vector<SharedBytes>& entries() const { return entries_; }

 private:
  std::vector<SharedBytes> entries_;
  std::unordered_map<std::string_view, size_t> positions_;  // compares hash, then bytes
};

}  // namespace vitrine::aot
