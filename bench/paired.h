// Times two functions in turn, in one process, so that disturbances affect both.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/platform/clock.h"

namespace vitrine::bench {

inline double median_ns(std::vector<uint64_t> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle);
}

template <class Function>
uint64_t time_once(Function& function) {
  const uint64_t start = platform::now_ns();
  function();
  return platform::now_ns() - start;
}

// Counters: the medians of both in us, and their ratio subject / baseline. The order within a pair
// alternates.
template <class Baseline, class Subject>
void run_paired(benchmark::State& state, Baseline baseline, Subject subject) {
  std::vector<uint64_t> baseline_times;
  std::vector<uint64_t> subject_times;
  bool subject_first = false;
  for (auto _ : state) {
    if (subject_first) subject_times.push_back(time_once(subject));
    baseline_times.push_back(time_once(baseline));
    if (!subject_first) subject_times.push_back(time_once(subject));
    subject_first = !subject_first;
  }
  const double base = median_ns(std::move(baseline_times));
  const double own = median_ns(std::move(subject_times));
  state.counters["baseline_us"] = base / 1000;
  state.counters["subject_us"] = own / 1000;
  state.counters["ratio"] = own / base;
}

}  // namespace vitrine::bench
