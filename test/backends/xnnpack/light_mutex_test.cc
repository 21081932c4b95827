#include "backends/xnnpack/runtime/execution/light_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace vitrine::xnnpack {
namespace {

TEST(LightMutexThreadTest, ExcludesOtherThreads) {
  constexpr int kThreads = 4;
  constexpr int kIncrements = 20'000;
  LightMutex mutex;
  int sum = 0;  // not atomic: two holders at a time would lose increments
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kIncrements; ++k) {
        const std::lock_guard lock(mutex);
        ++sum;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(sum, kThreads * kIncrements);
}

TEST(LightMutexThreadTest, WaitersGetTheLockAfterUnlock) {
  LightMutex mutex;
  mutex.lock();
  bool given_back = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(given_back);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  given_back = true;
  mutex.unlock();
  for (std::thread& each : threads) each.join();
}

}  // namespace
}  // namespace vitrine::xnnpack
