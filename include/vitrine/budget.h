// An amount of something that several parties spend from: memory, or steps of work.
#pragma once

#include <cstdint>

namespace vitrine {

// Not thread-safe: each Method has its own.
class Budget {
 public:
  explicit Budget(uint64_t limit = UINT64_MAX) : limit_(limit) {}

  // Beyond the limit, returns false and takes nothing.
  [[nodiscard]] bool take(uint64_t amount) {
    if (amount > left()) return false;
    used_ += amount;
    return true;
  }
  // What was taken.
  void give_back(uint64_t amount) { used_ -= amount; }

  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_; }
  uint64_t left() const { return limit_ - used_; }

 private:
  uint64_t limit_;
  uint64_t used_ = 0;
};

}  // namespace vitrine
