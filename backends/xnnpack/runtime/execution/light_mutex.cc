#include "backends/xnnpack/runtime/execution/light_mutex.h"

#include <chrono>

namespace vitrine::xnnpack {

// unlock() may read the number of waiters before its store is visible to other threads. In that
// case, unlock() does not wake a thread that begins to wait at that moment. So waiting threads
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
