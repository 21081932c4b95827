#include "backends/xnnpack/runtime/light_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace vitrine::xnnpack {
namespace {

TEST(LightMutexThreadTest, OneThreadAtATimeHoldsIt) {
  constexpr int kThreads = 4;
  constexpr int kTurns = 20'000;
  LightMutex mutex;
  int turns = 0;  // not atomic: two holders would lose turns
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kTurns; ++k) {
        const std::lock_guard lock(mutex);
        ++turns;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(turns, kThreads * kTurns);
}

TEST(LightMutexThreadTest, WaitersSleepUntilItIsGivenBack) {
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
