#include "vitrine/run_trial.h"

#include <algorithm>
#include <span>

namespace vitrine {
namespace {

constexpr uint32_t kUntimed = 4;
constexpr size_t kBlock = 7;  // runs of one way
constexpr size_t kFew = 3;    // runs alone after which it may be clear
constexpr uint32_t kLongestValid = 4096;

uint32_t median(std::span<uint32_t> times) {
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

void RunTrial::begin(uint64_t shape) {
  if (kinds_[current_].shape != shape) {
    // The times are of one trial: another one that was not over begins anew.
    if (is_timed()) kinds_[current_].runs = 0;
    const auto known = std::ranges::find(kinds_, shape, &Kind::shape);
    current_ = static_cast<size_t>(known - kinds_.begin());
    if (known == kinds_.end()) {
      current_ = next_;
      next_ = (next_ + 1) % kinds_.size();
      kinds_[current_] = {.shape = shape};
    }
  }
  Kind& kind = kinds_[current_];
  if (kind.runs >= kind.valid) {
    kind.runs = 0;
    kind.valid = std::min(4 * kind.valid, kLongestValid);
  }
  is_alone_ = is_timed() ? kind.runs >= kUntimed && (kind.runs - kUntimed) / kBlock % 2 == 1
                         : kind.is_alone;
}

bool RunTrial::is_timed() const { return kinds_[current_].runs < kRuns; }

void RunTrial::decide(bool alone) {
  kinds_[current_].runs = kRuns;
  kinds_[current_].is_alone = alone;
}

void RunTrial::end(uint64_t took_ns) {
  static_assert(kRuns == kUntimed + 2 * kTimed && kTimed == 2 * kBlock);
  const uint32_t run = kinds_[current_].runs++;
  if (run >= kRuns) return;
  if (took_ns > kLongRunNs) return decide(false);
  if (run < kUntimed) return;
  const size_t timed = run - kUntimed;
  times_ns_[is_alone_ ? 1 : 0][timed / (2 * kBlock) * kBlock + timed % kBlock] =
      static_cast<uint32_t>(took_ns);
  if (timed + 1 == kBlock + kFew) {
    const uint32_t alone_ns = *std::min_element(times_ns_[1].begin(), times_ns_[1].begin() + kFew);
    const uint32_t threads_ns = median(std::span(times_ns_[0]).first(kBlock));
    if (alone_ns > threads_ns + threads_ns / 4) decide(false);
  } else if (run + 1 == kRuns) {
    // Alone where it is clearly faster.
    const uint32_t threads_ns = median(times_ns_[0]);
    decide(median(times_ns_[1]) < threads_ns - threads_ns / 32);
  }
}

}  // namespace vitrine
