#include "vitrine/run_trial.h"

#include <algorithm>

namespace vitrine {
namespace {

constexpr uint32_t kUntimed = 4;
constexpr uint32_t kBlock = 7;     // runs of one way
constexpr uint32_t kDecided = 32;  // after two blocks of each way
constexpr uint32_t kValid = 4096;
constexpr uint64_t kLongRunNs = 5'000'000;

template <size_t count>
uint32_t median(std::array<uint32_t, count>& times) {
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  return times[count / 2];
}

}  // namespace

void RunTrial::begin(uint64_t shape) {
  if (shape_ != shape || runs_ >= kValid) {
    shape_ = shape;
    runs_ = 0;
  }
  if (is_timed()) is_alone_ = runs_ >= kUntimed && (runs_ - kUntimed) / kBlock % 2 == 1;
}

bool RunTrial::is_timed() const { return runs_ < kDecided; }

void RunTrial::end(uint64_t took_ns) {
  static_assert(kDecided == kUntimed + 2 * kTimed && kTimed == 2 * kBlock);
  const uint32_t run = runs_++;
  if (run >= kDecided) return;
  if (took_ns > kLongRunNs) {
    is_alone_ = false;
    runs_ = kDecided;
    return;
  }
  if (run < kUntimed) return;
  const uint32_t timed = run - kUntimed;
  times_ns_[is_alone_ ? 1 : 0][timed / (2 * kBlock) * kBlock + timed % kBlock] =
      static_cast<uint32_t>(took_ns);
  if (runs_ < kDecided) return;
  // Alone where it is clearly faster.
  const uint32_t threads_ns = median(times_ns_[0]);
  is_alone_ = median(times_ns_[1]) < threads_ns - threads_ns / 32;
}

}  // namespace vitrine
