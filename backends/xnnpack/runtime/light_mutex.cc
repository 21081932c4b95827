#include "backends/xnnpack/runtime/light_mutex.h"

#include <chrono>

namespace vitrine::xnnpack {

// unlock() may look for waiters before others see its store. Whoever begins to wait just then is
// not woken, so that nobody sleeps for long.
void LightMutex::wait() {
  constexpr std::chrono::milliseconds kLongestSleep{1};
  std::unique_lock lock(queue_);
  waiting_.fetch_add(1);
  while (!take()) given_back_.wait_for(lock, kLongestSleep);
  waiting_.fetch_sub(1);
}

void LightMutex::wake() {
  const std::lock_guard lock(queue_);
  given_back_.notify_one();
}

}  // namespace vitrine::xnnpack
