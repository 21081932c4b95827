// The key of data in KernelContext::derive(): a hash (FNV-1a) of the numbers that determine the
// data, such as the sizes and strides of the weights.
#pragma once

#include <cstdint>

namespace vitrine {

class PackingKey {
 public:
  void add(int64_t number) { key_ = (key_ ^ static_cast<uint64_t>(number)) * kFactor; }
  uint64_t value() const { return key_; }

 private:
  static constexpr uint64_t kStart = 14695981039346656037U;
  static constexpr uint64_t kFactor = 1099511628211U;

  uint64_t key_ = kStart;
};

}  // namespace vitrine
