#include "vitrine/thread_pool.h"

#include <cpuinfo.h>
#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <new>

namespace vitrine {
namespace {

constexpr size_t kMaxThreads = 1024;

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

Result<std::unique_ptr<ThreadPool>> ThreadPool::create(size_t threads) {
  if (threads == 0) threads = std::min(performing_core_count(), kMaxThreads);
  if (threads > kMaxThreads) {
    return Error::make(ErrorCode::kInvalidArgument, "%zu threads; at most %zu make sense", threads,
                       kMaxThreads);
  }
  pthreadpool_t pool = nullptr;
  if (threads > 1) {
    pool = pthreadpool_create(threads);
    if (pool == nullptr) {
      return Error::make(ErrorCode::kOutOfResources, "cannot make %zu threads", threads);
    }
  }
  std::unique_ptr<ThreadPool> result(new (std::nothrow) ThreadPool(pool, threads));
  if (!result) {
    pthreadpool_destroy(pool);
    return Error::make(ErrorCode::kMemoryAllocationFailed, "no memory for a thread pool");
  }
  return result;
}

ThreadPool::~ThreadPool() { pthreadpool_destroy(pool_); }

void ThreadPool::run(size_t count, Task task, void* argument) {
  pthreadpool_parallelize_1d(pool_, task, argument, count, 0);
}

}  // namespace vitrine
