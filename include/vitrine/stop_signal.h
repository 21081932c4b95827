// StopSignal ends an execution early, at the request of another thread or after a deadline. The
// executor checks the signal before each instruction, and delegates check it between operators.
#pragma once

#include <atomic>
#include <cstdint>

#include "vitrine/error.h"

namespace vitrine {

// The code of canceled executions, which ExecuTorch lacks.
inline constexpr auto kCanceled = static_cast<ErrorCode>(0x40);

class StopSignal {
 public:
  // `is_canceled` is the flag that requests a stop. The flag must outlive the signal.
  explicit StopSignal(const std::atomic<bool>* is_canceled) : is_canceled_(is_canceled) {}

  // Sets the deadline to `milliseconds` from now. 0 removes the deadline.
  void set_deadline(uint64_t milliseconds);

  bool is_set() const {
    return is_canceled_->load(std::memory_order_relaxed) ||
           (deadline_ns_ != 0 && is_past_deadline());
  }
  // Returns Canceled if a stop was requested, or OutOfResources after the deadline. Precondition:
  // is_set().
  Error error() const;

 private:
  bool is_past_deadline() const;

  const std::atomic<bool>* is_canceled_;
  uint64_t deadline_ns_ = 0;  // 0: none
};

}  // namespace vitrine
