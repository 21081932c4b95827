#include "bench/suite/interleave.h"

#include <algorithm>
#include <cmath>

#include "runtime/platform/clock.h"

namespace vitrine::bench {
namespace {

constexpr double kTurnNs = 1e6;
constexpr double kSampleNs = 10e3;  // 200 times the duration of two clock reads
constexpr int kWarmups = 3;

// Returns the time of one run in ns, averaged over a batch.
double time_of(TimedTask& task, size_t batch) {
  if (task.prepare) task.prepare();
  const uint64_t start = platform::now_ns();
  for (size_t i = 0; i < batch; ++i) task.run();
  return static_cast<double>(platform::now_ns() - start) / static_cast<double>(batch);
}

struct TaskState {
  TimedTask* task;
  size_t batch = 1;
  double spent_ns = 0;
  bool is_done(const Effort& effort) const {
    return spent_ns >= effort.ns_per_task && task->samples.size() >= effort.min_runs;
  }
};

TaskState warm_up(TimedTask& task) {
  double fastest = time_of(task, 1);
  for (int i = 1; i < kWarmups && fastest < kTurnNs * 100; ++i) {
    fastest = std::min(fastest, time_of(task, 1));
  }
  TaskState state{&task};
  if (!task.prepare && fastest < kSampleNs) {
    state.batch = static_cast<size_t>(std::ceil(kSampleNs / std::max(fastest, 1.0)));
  }
  return state;
}

// Runs a task for kTurnNs, or one batch if the batch takes at least kTurnNs / 4. Otherwise the
// first batch does not count: the task's data may be missing in the processor's caches.
void run_turn(TaskState& state) {
  const double begin = state.spent_ns;
  const double first = time_of(*state.task, state.batch);
  state.spent_ns += first * static_cast<double>(state.batch);
  const bool is_short = first * static_cast<double>(state.batch) < kTurnNs / 4;
  if (!is_short) state.task->samples.push_back(first);
  while (is_short && state.spent_ns - begin < kTurnNs) {
    const double ns = time_of(*state.task, state.batch);
    state.task->samples.push_back(ns);
    state.spent_ns += ns * static_cast<double>(state.batch);
  }
}

}  // namespace

void interleave(std::vector<TimedTask>& tasks, const Effort& effort) {
  std::vector<TaskState> states;
  for (TimedTask& task : tasks) states.push_back(warm_up(task));
  while (true) {
    TaskState* next = nullptr;
    for (TaskState& state : states) {
      if (state.is_done(effort)) continue;
      if (next == nullptr || state.spent_ns < next->spent_ns) next = &state;
    }
    if (next == nullptr) return;
    run_turn(*next);
  }
}

}  // namespace vitrine::bench
