#include "backends/xnnpack/runtime/execution/light_mutex.h"

#include <chrono>

namespace vitrine::xnnpack {

// A thread that begins to wait while another thread unlocks may miss its wake-up. Threads therefore
// sleep only briefly before they try again.
void LightMutex::wait() {
  constexpr std::chrono::milliseconds kMaxSleep{1};
  std::unique_lock lock(queue_);
  waiting_.fetch_add(1);
  while (!take()) released_.wait_for(lock, kMaxSleep);
  waiting_.fetch_sub(1);
}

void LightMutex::wake() {
  const std::lock_guard lock(queue_);
  released_.notify_one();
}

}  // namespace vitrine::xnnpack
