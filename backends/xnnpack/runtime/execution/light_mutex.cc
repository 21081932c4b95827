#include "backends/xnnpack/runtime/execution/light_mutex.h"

#include <chrono>

namespace vitrine::xnnpack {

// unlock() may read waiting_ before other threads see that it cleared taken_. A thread that begins
// to wait at that moment is not woken. So waiting threads sleep only briefly before they try again.
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
