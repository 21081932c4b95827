#include "vitrine/thread_pool.h"

#include <cpuinfo.h>
#include <pthread.h>
#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "runtime/platform/clock.h"

// pthreadpool is not compiled for ThreadSanitizer, which therefore has to be told that a region
// begins after what its caller did before, and ends before what its caller does next.
#if defined(__SANITIZE_THREAD__)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#define VITRINE_TSAN_ACQUIRE(address) __tsan_acquire(address)
#define VITRINE_TSAN_RELEASE(address) __tsan_release(address)
#else
#define VITRINE_TSAN_ACQUIRE(address) static_cast<void>(address)
#define VITRINE_TSAN_RELEASE(address) static_cast<void>(address)
#endif

namespace vitrine {
namespace {

constexpr size_t kMaxThreads = 1024;

// A worker is taken to look out for work for so long before it sleeps (0.25 ms on Zen 4, see
// VITRINE_SOURCE_FIXES), and is woken for so much work.
constexpr uint64_t kAwakeNs = 100'000;
constexpr uint64_t kWorthWakingNs = 50'000;

// What each worker saved lately, up to this, makes up for what is lost: a single loss of a few
// milliseconds, when the system gives the core to another process, is not a reason to pause.
constexpr int64_t kMaxSavedNs = 20'000'000;
// The same right after a pause.
constexpr int64_t kTrialNs = 2'000'000;
constexpr uint64_t kFirstPauseNs = 5'000'000;
constexpr uint64_t kLongestPauseNs = 500'000'000;
// A loss within so many pauses after the last one doubles the next.
constexpr uint64_t kQuietPauses = 8;

// The run that the thread makes is to be on it alone.
thread_local bool works_alone = false;

// Cores of the cluster whose frequency is highest; all cores where frequencies are unknown or
// equal.
size_t fastest_cores() {
  if (!cpuinfo_initialize()) return 1;
  uint64_t highest = 0;
  for (uint32_t i = 0; i < cpuinfo_get_clusters_count(); ++i) {
    highest = std::max(highest, cpuinfo_get_cluster(i)->frequency);
  }
  size_t cores = 0;
  for (uint32_t i = 0; i < cpuinfo_get_clusters_count(); ++i) {
    const cpuinfo_cluster* cluster = cpuinfo_get_cluster(i);
    // Big cores of one chip differ by a little (a "prime" core): they all count. Little ones run
    // at well under three quarters.
    if (cluster->frequency * 4 >= highest * 3) cores += cluster->core_count;
  }
  return cores;
}

size_t allowed_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return kMaxThreads;
  return static_cast<size_t>(CPU_COUNT(&set));
}

// A container's share of the machine, rounded up to whole processors.
size_t quota_processors() {
  std::FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "re");
  if (file == nullptr) return kMaxThreads;
  long long quota = 0;
  long long period = 0;
  const int read = std::fscanf(file, "%lld %lld", &quota, &period);  // "max 100000" reads nothing
  std::fclose(file);
  if (read != 2 || quota <= 0 || period <= 0) return kMaxThreads;
  return static_cast<size_t>((quota + period - 1) / period);
}

}  // namespace

size_t performing_core_count() {
  return std::max<size_t>(1, std::min({fastest_cores(), allowed_processors(), quota_processors()}));
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(size_t threads, Use use) {
  if (threads == 0) threads = std::min(performing_core_count(), kMaxThreads);
  if (threads > kMaxThreads) {
    return Error::make(ErrorCode::kInvalidArgument, "%zu threads: at most %zu are allowed", threads,
                       kMaxThreads);
  }
  pthreadpool_t pool = nullptr;
  if (threads > 1) {
    pool = pthreadpool_create(threads);
    if (pool == nullptr) {
      return Error::make(ErrorCode::kOutOfResources, "cannot make %zu threads", threads);
    }
  }
  std::unique_ptr<ThreadPool> result(new (std::nothrow) ThreadPool(pool, threads, use));
  if (!result) {
    pthreadpool_destroy(pool);
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a thread pool");
  }
  return result;
}

ThreadPool::ThreadPool(pthreadpool* pool, size_t threads, Use use)
    : pool_(pool),
      threads_(threads),
      use_(use),
      lost_ns_(-kMaxSavedNs * static_cast<int64_t>(threads - 1)) {}

ThreadPool::~ThreadPool() { pthreadpool_destroy(pool_); }

// Callers on several threads may lose each other's sums here and below, which does no harm.
bool ThreadPool::rests(uint64_t now_ns) const {
  return works_alone || now_ns < resume_ns_.load(std::memory_order_relaxed);
}

bool ThreadPool::pays(uint64_t now_ns, uint64_t work_ns) {
  if (use_ == Use::kAlways) return true;
  if (rests(now_ns)) return false;
  const bool soon = now_ns < end_ns_.load(std::memory_order_relaxed) + kAwakeNs;
  if (soon && awake_.load(std::memory_order_relaxed)) return true;
  const uint64_t alone = work_ns + (soon ? alone_ns_.load(std::memory_order_relaxed) : 0);
  const bool worth_waking = alone >= kWorthWakingNs;
  awake_.store(worth_waking, std::memory_order_relaxed);
  alone_ns_.store(worth_waking ? 0 : alone, std::memory_order_relaxed);
  end_ns_.store(now_ns + work_ns, std::memory_order_relaxed);
  return worth_waking;
}

void ThreadPool::account(uint64_t now_ns, uint64_t took_ns, uint64_t own_ns, uint64_t alone_ns) {
  if (use_ == Use::kAlways) return;
  end_ns_.store(now_ns, std::memory_order_relaxed);
  const auto workers = static_cast<int64_t>(threads_ - 1);
  // The others' share counts less than in full: tiles are uneven, memory is shared. They may have
  // no share at all.
  int64_t alone = static_cast<int64_t>(own_ns) * (10 + 7 * workers) / 10;
  if (alone_ns != 0) alone = std::min(alone, static_cast<int64_t>(alone_ns));
  const int64_t lost =
      std::max(lost_ns_.load(std::memory_order_relaxed) + static_cast<int64_t>(took_ns) - alone,
               -kMaxSavedNs * workers);
  lost_ns_.store(lost > 0 ? -kTrialNs : lost, std::memory_order_relaxed);
  if (lost <= 0) return;
  const uint64_t last = pause_ns_.load(std::memory_order_relaxed);
  const bool soon = now_ns < resume_ns_.load(std::memory_order_relaxed) + kQuietPauses * last;
  const uint64_t pause = soon ? std::min(2 * last, kLongestPauseNs) : kFirstPauseNs;
  pause_ns_.store(pause, std::memory_order_relaxed);
  resume_ns_.store(now_ns + pause, std::memory_order_relaxed);
}

uint64_t ThreadPool::begin_run(RunTrial& trial, uint64_t shape) {
  if (threads_ == 1 || use_ == Use::kAlways) return 0;
  trial.begin(shape);
  works_alone = trial.is_alone();
  return trial.is_timed() ? platform::quick_now_ns() : 0;
}

void ThreadPool::end_run(RunTrial& trial, uint64_t start_ns) {
  works_alone = false;
  if (threads_ == 1 || use_ == Use::kAlways) return;
  trial.end(trial.is_timed() ? platform::quick_now_ns() - start_ns : 0);
}

void ThreadPool::run(size_t count, Task task, void* argument, uint64_t work_ns) {
  const bool alone = pool_ == nullptr || works_alone;
  const uint64_t start_ns = alone ? 0 : platform::quick_now_ns();
  if (alone || !pays(start_ns, work_ns)) {
    for (size_t i = 0; i < count; ++i) task(argument, i);
    return;
  }
  struct Timed {
    Task task;
    void* argument;
    pthread_t caller;
    uint64_t own_end_ns;
  } timed{task, argument, pthread_self(), start_ns};
  VITRINE_TSAN_RELEASE(&timed);
  pthreadpool_parallelize_1d(
      pool_,
      [](void* region, size_t i) {
        VITRINE_TSAN_ACQUIRE(region);
        Timed& t = *static_cast<Timed*>(region);
        t.task(t.argument, i);
        if (pthread_equal(pthread_self(), t.caller) != 0) t.own_end_ns = platform::quick_now_ns();
        VITRINE_TSAN_RELEASE(region);
      },
      &timed, count, 0);
  VITRINE_TSAN_ACQUIRE(&timed);
  const uint64_t end_ns = platform::quick_now_ns();
  account(end_ns, end_ns - start_ns, timed.own_end_ns - start_ns);
}

}  // namespace vitrine
