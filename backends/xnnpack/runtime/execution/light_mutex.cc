#include "backends/xnnpack/runtime/execution/light_mutex.h"

#include <chrono>

namespace vitrine::xnnpack {

// A waiting thread may miss its wake-up: unlock() may read waiting_ before other threads see that
// taken_ is false, and a thread that begins to wait in between is not woken. So threads sleep only
// briefly before they try again.
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
