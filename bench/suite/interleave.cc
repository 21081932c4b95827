#include "bench/suite/interleave.h"

#include <algorithm>
#include <cmath>

#include "runtime/platform/clock.h"

namespace vitrine::bench {
namespace {

constexpr double kBurstNs = 1e6;
constexpr double kSampleNs = 10e3;  // 200 times what a pair of clock reads takes
constexpr int kWarmups = 3;

double time_of(Side& side, size_t batch) {
  if (side.prepare) side.prepare();
  const uint64_t start = platform::now_ns();
  for (size_t i = 0; i < batch; ++i) side.run();
  return static_cast<double>(platform::now_ns() - start) / static_cast<double>(batch);
}

struct State {
  Side* side;
  size_t batch = 1;
  double spent = 0;
  bool is_done(const Effort& effort) const {
    return spent >= effort.ns_a_side && side->samples.size() >= effort.min_runs;
  }
};

State warmed_up(Side& side) {
  double fastest = time_of(side, 1);
  for (int i = 1; i < kWarmups && fastest < kBurstNs * 100; ++i) {
    fastest = std::min(fastest, time_of(side, 1));
  }
  State state{&side};
  if (!side.prepare && fastest < kSampleNs) {
    state.batch = static_cast<size_t>(std::ceil(kSampleNs / std::max(fastest, 1.0)));
  }
  return state;
}

// The first run after another side's finds its data out of the caches, and does not count if there
// is time for more.
void burst(State& state) {
  const double begin = state.spent;
  const double refill = time_of(*state.side, state.batch);
  state.spent += refill * static_cast<double>(state.batch);
  const bool is_short = refill * static_cast<double>(state.batch) < kBurstNs / 4;
  if (!is_short) state.side->samples.push_back(refill);
  while (is_short && state.spent - begin < kBurstNs) {
    const double ns = time_of(*state.side, state.batch);
    state.side->samples.push_back(ns);
    state.spent += ns * static_cast<double>(state.batch);
  }
}

}  // namespace

void interleave(std::vector<Side>& sides, const Effort& effort) {
  std::vector<State> states;
  for (Side& side : sides) states.push_back(warmed_up(side));
  while (true) {
    State* next = nullptr;
    for (State& state : states) {
      if (state.is_done(effort)) continue;
      if (next == nullptr || state.spent < next->spent) next = &state;
    }
    if (next == nullptr) return;
    burst(*next);
  }
}

}  // namespace vitrine::bench
