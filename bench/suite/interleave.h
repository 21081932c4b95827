// Measures several ways of doing the same thing in turn, so that what disturbs the machine meets
// all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace vitrine::bench {

struct Side {
  std::function<void()> run;
  std::function<void()> prepare = {};  // before each run, untimed; may be null
  std::vector<double> samples = {};    // ns a run, in the order of the runs
};

struct Effort {
  double ns_a_side = 1e9;  // to spend on each side
  size_t min_runs = 5;     // even if that takes longer
};

// Warms each side up, then lets the one that has had the least time run next, for a millisecond or
// one run. Runs shorter than the clock can time are timed in batches, if they need no preparation.
void interleave(std::vector<Side>& sides, const Effort& effort);

}  // namespace vitrine::bench
