#include "runtime/threads/thread_policy.h"

#include <algorithm>

#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

// Assumed time that each worker saves, as a share of its caller's processor time.
constexpr double kSavedShare = 0.4;
// Limit on the recorded savings. With this limit, a single loss of a few milliseconds does not
// cause a pause unless another loss came shortly before.
constexpr int64_t kMaxSavedNs = 10'000'000;
constexpr int64_t kSavedAfterPauseNs = 2'000'000;
constexpr uint64_t kSampleNs = 2'000'000;  // interval at which long runs record their loss
constexpr uint64_t kFirstPauseNs = 10'000'000;
constexpr uint64_t kMaxPauseNs = 500'000'000;
// If a loss comes within this many pause lengths after the last pause, the next pause is twice as
// long.
constexpr uint64_t kQuietPauses = 8;
// Length of a pause after the processors were too few for all runs of this process.
constexpr uint64_t kSharedPauseNs = 50'000'000;

}  // namespace

ThreadPolicy::ThreadPolicy(size_t threads, size_t processors, std::atomic<uint32_t>& callers,
                           Clocks clocks)
    : workers_(static_cast<int64_t>(threads) - 1),
      processors_(processors),
      callers_(callers),
      clocks_(clocks),
      saved_ns_(kMaxSavedNs) {}

bool ThreadPolicy::is_paused(uint64_t now_ns) const { return now_ns < resume_ns_.load(kRelaxed); }

bool ThreadPolicy::allows(Run& run, uint64_t work_ns) {
  if (work_ns < ThreadPool::kMinWorkNs) return false;
  run.work_ns += work_ns;
  if (run.work_ns < kWakeWorkNs) return false;
  if (!run.is_counted) {
    run.is_counted = true;
    callers_.fetch_add(1, kRelaxed);
  }
  const uint64_t now_ns = clocks_.wall_ns();
  if (2 * size_t{callers_.load(kRelaxed)} > processors_) {
    resume_ns_.store(std::max(resume_ns_.load(kRelaxed), now_ns + kSharedPauseNs), kRelaxed);
  }
  if (is_paused(now_ns)) {
    run.cpu_ns = 0;
    return false;
  }
  if (run.cpu_ns == 0) {
    run.wall_ns = now_ns;
    run.cpu_ns = clocks_.cpu_ns();
  } else if (now_ns - run.wall_ns >= kSampleNs) {
    record(run, now_ns);
    return !is_paused(now_ns);
  }
  return true;
}

void ThreadPolicy::end(Run& run) {
  if (run.cpu_ns != 0) record(run, clocks_.wall_ns());
  if (run.is_counted) callers_.fetch_sub(1, kRelaxed);
  run = {};
}

void ThreadPolicy::record(Run& run, uint64_t now_ns) {
  const uint64_t cpu_ns = clocks_.cpu_ns();
  const auto wall = static_cast<int64_t>(now_ns - run.wall_ns);
  const auto cpu = std::min(static_cast<int64_t>(cpu_ns - run.cpu_ns), wall);
  run.wall_ns = now_ns;
  run.cpu_ns = cpu_ns;
  const auto saved = static_cast<int64_t>(kSavedShare * static_cast<double>(workers_ * cpu));
  const int64_t balance = std::min(saved_ns_.load(kRelaxed) + saved - (wall - cpu), kMaxSavedNs);
  saved_ns_.store(balance < 0 ? kSavedAfterPauseNs : balance, kRelaxed);
  if (balance >= 0) return;
  run.cpu_ns = 0;
  const uint64_t last = pause_ns_.load(kRelaxed);
  const bool soon = now_ns < resume_ns_.load(kRelaxed) + kQuietPauses * last;
  const uint64_t pause = soon ? std::min(2 * last, kMaxPauseNs) : kFirstPauseNs;
  pause_ns_.store(pause, kRelaxed);
  resume_ns_.store(now_ns + pause, kRelaxed);
}

}  // namespace vitrine
