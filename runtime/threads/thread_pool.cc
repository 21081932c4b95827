#include "vitrine/thread_pool.h"

#include <cpuinfo.h>
#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "runtime/platform/clock.h"
#include "runtime/platform/control_group.h"
#include "runtime/threads/thread_policy.h"

// pthreadpool is not compiled for ThreadSanitizer. These annotations order a region after its
// caller's earlier accesses and before the caller's later accesses.
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

ThreadPolicy::Demand demand;

// The run that this thread executes now.
thread_local bool is_in_run = false;
thread_local ThreadPolicy::Run present_run;

// Number of cores in the fastest clusters. Counts all cores if the frequencies are unknown or
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
    // The frequencies of big cores differ slightly. Little cores have less than three quarters of
    // the highest frequency.
    if (cluster->frequency * 4 >= highest * 3) cores += cluster->core_count;
  }
  return cores;
}

size_t allowed_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return kMaxThreads;
  return static_cast<size_t>(CPU_COUNT(&set));
}

// Number of processors that the affinity mask and the CPU quota of the control groups allow.
size_t usable_processors() {
  return static_cast<size_t>(
      std::min<uint64_t>(platform::control_group_processors(), allowed_processors()));
}

}  // namespace

size_t performing_core_count() {
  return std::max<size_t>(1, std::min(fastest_cores(), usable_processors()));
}

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(size_t threads, Use use) {
  if (threads == 0) threads = std::min(performing_core_count(), kMaxThreads);
  if (threads > kMaxThreads) {
    return Error::make(ErrorCode::kInvalidArgument,
                       "cannot create %zu threads: at most %zu are supported", threads,
                       kMaxThreads);
  }
  const size_t processors = usable_processors();
  if (use == Use::kAdaptive) threads = std::min(threads, std::max<size_t>(2, processors));
  std::unique_ptr<ThreadPool> pool(new (std::nothrow) ThreadPool(threads, use));
  bool has_memory = pool != nullptr;
  if (has_memory && threads > 1) {
    pool->policy_.reset(new (std::nothrow) ThreadPolicy(
        threads, processors, demand, {platform::quick_now_ns, platform::thread_cpu_ns}));
    has_memory = pool->policy_ != nullptr;
    pool->pool_ = pthreadpool_create(threads);
    if (pool->pool_ == nullptr) {
      return Error::make(ErrorCode::kOutOfResources, "cannot create %zu threads", threads);
    }
  }
  if (!has_memory) {
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a thread pool");
  }
  return pool;
}

ThreadPool::ThreadPool(size_t threads, Use use) : threads_(threads), use_(use) {}

ThreadPool::~ThreadPool() { pthreadpool_destroy(pool_); }

void ThreadPool::begin_run() { is_in_run = true; }

void ThreadPool::end_run() {
  is_in_run = false;
  if (policy_) policy_->end(present_run);
}

bool ThreadPool::should_parallelize(uint64_t work_ns) {
  if (pool_ == nullptr) return false;
  if (use_ == Use::kAlways) return true;
  if (is_in_run) return policy_->allows(present_run, work_ns);
  ThreadPolicy::Run run;  // outside of a run, for example while weights are packed
  const bool allows = policy_->allows(run, work_ns);
  policy_->end(run);
  return allows;
}

void ThreadPool::run(size_t count, Task task, void* argument) {
  struct Region {
    Task task;
    void* argument;
  } region{task, argument};
  VITRINE_TSAN_RELEASE(&region);
  pthreadpool_parallelize_1d(
      pool_,
      [](void* shared, size_t i) {
        VITRINE_TSAN_ACQUIRE(shared);
        const Region& r = *static_cast<Region*>(shared);
        r.task(r.argument, i);
        VITRINE_TSAN_RELEASE(shared);
      },
      &region, count, 0);
  VITRINE_TSAN_ACQUIRE(&region);
}

}  // namespace vitrine
