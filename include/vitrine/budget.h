// Budget limits an amount that several components use up together, such as bytes of memory or steps
// of work. Not thread-safe: each Method has its own budgets.
#pragma once

#include <cstdint>

namespace vitrine {

class Budget {
 public:
  explicit Budget(uint64_t limit = UINT64_MAX) : limit_(limit) {}

  // Uses up `amount`. If less than `amount` is left, returns false and uses up nothing.
  [[nodiscard]] bool take(uint64_t amount) {
    if (amount > left()) return false;
    used_ += amount;
    return true;
  }
  // Puts back an amount that take() used up.
  void give_back(uint64_t amount) { used_ -= amount; }

  uint64_t limit() const { return limit_; }
  uint64_t used() const { return used_; }
  uint64_t left() const { return limit_ - used_; }

 private:
  uint64_t limit_;
  uint64_t used_ = 0;
};

}  // namespace vitrine
