#include "vitrine/stop_signal.h"

#include <algorithm>

#include "runtime/platform/clock.h"

namespace vitrine {

void StopSignal::set_deadline(uint64_t milliseconds) {
  constexpr uint64_t kMaxMilliseconds = uint64_t{1} << 40;
  constexpr uint64_t kNsPerMillisecond = 1'000'000;
  deadline_ns_ =
      milliseconds == 0
          ? 0
          : platform::quick_now_ns() + std::min(milliseconds, kMaxMilliseconds) * kNsPerMillisecond;
}

bool StopSignal::is_past_deadline() const { return platform::quick_now_ns() >= deadline_ns_; }

Error StopSignal::error() const {
  if (is_canceled_->load(std::memory_order_relaxed)) {
    return Error::make(kCanceled, "canceled");
  }
  return Error::make(ErrorCode::kOutOfResources,
                     "the run takes longer than max_milliseconds_per_run allows");
}

}  // namespace vitrine
