// A mutex for std::lock_guard. Locking costs one atomic exchange, unlocking one store.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace vitrine::xnnpack {

class LightMutex {
 public:
  void lock() {
    if (!take()) wait();
  }
  void unlock() {
    taken_.store(false, std::memory_order_release);
    if (waiting_.load(std::memory_order_relaxed) != 0) wake();
  }

 private:
  bool take() { return !taken_.exchange(true, std::memory_order_acquire); }
  void wait();
  void wake();

  std::atomic<bool> taken_{false};
  std::atomic<uint32_t> waiting_{0};
  std::mutex queue_;
  std::condition_variable released_;
};

}  // namespace vitrine::xnnpack
