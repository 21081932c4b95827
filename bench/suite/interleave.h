// Times several tasks in turn, so that a disturbance of the machine affects all tasks.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vitrine::bench {

struct TimedTask {
  std::function<void()> run;
  std::function<void()> prepare = {};  // called before each run, not timed; may be null
  std::vector<double> samples = {};    // ns per run, in the order of the runs
};

struct Effort {
  double ns_per_task = 1e9;  // time to spend on each task
  size_t min_runs = 5;       // minimum number of runs of each task
};

// Warms up every task, and then runs the tasks in turns. The next turn goes to the task with the
// least time so far. A turn takes a millisecond, or a single run of at least a quarter of a
// millisecond. A task ends when it has reached both the time and the number of runs in `effort`.
// Runs that are too short for the clock are timed in batches, unless they need preparation.
void interleave(std::vector<TimedTask>& tasks, const Effort& effort);

}  // namespace vitrine::bench
