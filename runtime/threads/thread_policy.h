// ThreadPolicy decides for each parallel region of a run whether it uses the workers of a pool.
//
// - Work: a region of less than ThreadPool::kMinWorkNs runs on its calling thread. The first
//   regions of a run, up to kWakeWorkNs in total, also run there, because waking the workers takes
//   about 20 us. But workers spin for at least kSpinNs after a region. While they spin, they need
//   no waking, so the first regions use them.
// - Processors: the runs that have work for several threads share the processors of this process.
//   Regions use the workers only if the process has at least two processors for each of these runs
//   and at least one processor for each thread of the pools that these runs use.
// - Pause: other processes may use the same processors. A caller may then wait for a processor, or
//   for workers that wait for a processor. The loss of a run is its wall time minus the processor
//   time of its caller. If the loss exceeds the time that the workers save, regions do not use the
//   workers for a while. This pause is extended if callers still wait for a processor.
//
// All sums are estimates, because callers on several threads may overwrite each other's updates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vitrine {

class ThreadPolicy {
 public:
  static constexpr uint64_t kWakeWorkNs = 30'000;  // work of the first regions of a run
  static constexpr uint64_t kSpinNs = 50'000;      // workers spin at least this long after a region

  struct Clocks {
    uint64_t (*wall_ns)();
    uint64_t (*cpu_ns)();  // processor time of the calling thread
  };
  // The runs of this process that have work for several threads, and the threads of their pools.
  struct Demand {
    std::atomic<uint32_t> runs{0};
    std::atomic<uint32_t> threads{0};
  };
  // State of a run. Only the run's thread uses this state.
  struct Run {
    uint64_t work_ns = 0;     // work in regions that are large enough for threads
    bool is_counted = false;  // true if `demand` includes this run
    uint64_t wall_ns = 0;     // start of the current sample
    uint64_t cpu_ns = 0;      // 0: no sample has begun
    bool is_alone = false;    // true if the sample began during a pause
  };

  // All policies of the process share `demand`.
  ThreadPolicy(size_t threads, size_t processors, Demand& demand, Clocks clocks);

  // Returns true if a region that takes `work_ns` on one thread should use the workers.
  bool allows(Run& run, uint64_t work_ns);
  void end(Run& run);

 private:
  void count(Run& run);
  bool has_processors() const;
  bool is_paused(uint64_t now_ns) const;
  void record(Run& run, uint64_t now_ns);

  const uint32_t threads_;
  const size_t processors_;
  Demand& demand_;
  const Clocks clocks_;
  std::atomic<uint32_t> runs_{0};  // the runs of this pool that `demand` includes
  std::atomic<int64_t> saved_ns_;  // time that the workers saved minus lost time; bounded
  std::atomic<uint64_t> awake_until_ns_{0};
  std::atomic<uint64_t> resume_ns_{0};
  std::atomic<uint64_t> pause_ns_{0};  // length of the last pause that a loss caused
};

}  // namespace vitrine
