#include "runtime/threads/thread_policy.h"

#include <algorithm>

#include "vitrine/thread_pool.h"

namespace vitrine {
namespace {

constexpr std::memory_order kRelaxed = std::memory_order_relaxed;

// Assumed time that a worker saves, as a fraction of the calling thread's processor time.
constexpr double kSavedShare = 0.4;
// Upper limit and initial value of saved_ns_. At this limit, a single loss of a few milliseconds
// does not start a pause.
constexpr int64_t kMaxSavedNs = 10'000'000;
constexpr int64_t kSavedAfterPauseNs = 2'000'000;
// Upper limit on the estimated time of a region. Estimates of long regions may be far too large.
constexpr uint64_t kMaxRegionNs = 500'000;
constexpr uint64_t kSampleNs = 2'000'000;  // interval at which long runs record their loss
constexpr uint64_t kFirstPauseNs = 10'000'000;
constexpr uint64_t kMaxPauseNs = 500'000'000;
// In the last kCheckNs of a pause, the policy measures how long callers wait for a processor. A
// wait of at least kMinTakenNs, and at least an eighth of the measured time, extends the pause.
constexpr uint64_t kCheckNs = 10'000'000;
constexpr int64_t kMinTakenNs = 1'000'000;
// The next pause is twice as long if the time since the last pause is less than kQuietPauses times
// the length of that pause.
constexpr uint64_t kQuietPauses = 8;
// Length of a pause that a lack of processors causes.
constexpr uint64_t kSharedPauseNs = 50'000'000;

}  // namespace

ThreadPolicy::ThreadPolicy(size_t threads, size_t processors, Demand& demand, Clocks clocks)
    : threads_(static_cast<uint32_t>(threads)),
      processors_(processors),
      demand_(demand),
      clocks_(clocks),
      saved_ns_(kMaxSavedNs) {}

void ThreadPolicy::count(Run& run) {
  if (run.is_counted) return;
  run.is_counted = true;
  demand_.runs.fetch_add(1, kRelaxed);
  if (runs_.fetch_add(1, kRelaxed) == 0) demand_.threads.fetch_add(threads_, kRelaxed);
}

bool ThreadPolicy::has_processors() const {
  return 2 * size_t{demand_.runs.load(kRelaxed)} <= processors_ &&
         demand_.threads.load(kRelaxed) <= processors_;
}

bool ThreadPolicy::is_paused(uint64_t now_ns) const { return now_ns < resume_ns_.load(kRelaxed); }

bool ThreadPolicy::allows(Run& run, uint64_t work_ns) {
  if (work_ns < ThreadPool::kMinWorkNs) return false;
  run.work_ns += work_ns;
  const uint64_t now_ns = clocks_.wall_ns();
  if (run.work_ns < kWakeWorkNs && now_ns >= awake_until_ns_.load(kRelaxed)) return false;
  count(run);
  if (!has_processors()) {
    resume_ns_.store(std::max(resume_ns_.load(kRelaxed), now_ns + kSharedPauseNs), kRelaxed);
  }
  if (run.cpu_ns != 0) {
    if (!run.is_alone && is_paused(now_ns)) {
      run.cpu_ns = 0;  // another run began the pause
    } else if (run.is_alone != is_paused(now_ns) || now_ns - run.wall_ns >= kSampleNs) {
      record(run, now_ns);
    }
  }
  const uint64_t resume_ns = resume_ns_.load(kRelaxed);
  const bool is_alone = now_ns < resume_ns;
  if (is_alone && resume_ns - now_ns > kCheckNs) {
    run.cpu_ns = 0;
  } else if (run.cpu_ns == 0 || run.is_alone != is_alone) {
    run.is_alone = is_alone;
    run.wall_ns = now_ns;
    run.cpu_ns = clocks_.cpu_ns();
  }
  if (is_alone) return false;
  const uint64_t region_ns = std::min(work_ns / threads_, kMaxRegionNs);
  awake_until_ns_.store(now_ns + region_ns + kSpinNs, kRelaxed);
  return true;
}

void ThreadPolicy::end(Run& run) {
  if (run.cpu_ns != 0) record(run, clocks_.wall_ns());
  if (run.is_counted) {
    demand_.runs.fetch_sub(1, kRelaxed);
    if (runs_.fetch_sub(1, kRelaxed) == 1) demand_.threads.fetch_sub(threads_, kRelaxed);
  }
  run = {};
}

void ThreadPolicy::record(Run& run, uint64_t now_ns) {
  const uint64_t cpu_ns = clocks_.cpu_ns();
  const auto wall = static_cast<int64_t>(now_ns - run.wall_ns);
  const auto cpu = std::min(static_cast<int64_t>(cpu_ns - run.cpu_ns), wall);
  run.wall_ns = now_ns;
  run.cpu_ns = cpu_ns;
  if (run.is_alone) {
    if (wall - cpu < kMinTakenNs || wall - cpu < wall / 8) return;
    const uint64_t pause = std::max(pause_ns_.load(kRelaxed), kFirstPauseNs);
    resume_ns_.store(std::max(resume_ns_.load(kRelaxed), now_ns + pause), kRelaxed);
    return;
  }
  const auto saved = static_cast<int64_t>(kSavedShare * static_cast<double>((threads_ - 1) * cpu));
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
