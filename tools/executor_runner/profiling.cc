#include "tools/executor_runner/profiling.h"

#include <algorithm>

#include "formats/etdump/extensions.h"
#include "host/tool_error.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/memory.h"
#include "vitrine/run_trial.h"

namespace vitrine::tools {
namespace {

// The first run: caches are cold, and memory is not mapped yet.
uint64_t timed_cold_run(Method& method, InputSet& inputs, TraceBuffer& trace) {
  inputs.apply(method);
  method.set_tracer(&trace);
  const uint64_t start = platform::now_ns();
  check(method.execute());
  const uint64_t end = platform::now_ns();
  trace.record({.start_ns = start, .end_ns = end, .name = etdump::kWarmUp});
  return end - start;
}

uint64_t timed_run(Method& method, InputSet& inputs, EventTracer* tracer) {
  inputs.apply(method);
  method.set_tracer(tracer);
  const uint64_t start = platform::now_ns();
  check(method.execute());
  return platform::now_ns() - start;
}

// With fewer, one disturbed or cold run decides.
constexpr size_t kRunsToCompare = 5;

double median(std::vector<uint64_t> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<double>(*middle);
}

}  // namespace

size_t runs_that_fit(double budget_ns, uint64_t run_ns, size_t least, size_t most) {
  const double fit = budget_ns / static_cast<double>(std::max<uint64_t>(run_ns, 1));
  return static_cast<size_t>(
      std::clamp(fit, static_cast<double>(least), static_cast<double>(most)));
}

size_t warm_ups_for(uint64_t run_ns) {
  return run_ns > RunTrial::kLongRunNs ? runs_that_fit(0.5 * kSecond, run_ns, 1, 5)
                                       : RunTrial::kRuns;
}

ProfiledRuns run_profiled(Method& method, InputSet& inputs, TraceBuffer& trace,
                          const RunnerOptions& options) {
  ProfiledRuns result;
  uint64_t last = 0;
  result.warmup = options.warmup.value_or(1);
  for (size_t i = 0; i < result.warmup; ++i) {
    last = i == 0 ? timed_cold_run(method, inputs, trace) : timed_run(method, inputs, nullptr);
    if (i == 0 && !options.warmup) result.warmup = warm_ups_for(last);
  }
  if (last == 0) last = static_cast<uint64_t>(kSecond);  // no estimate without a warm-up: few runs
  const size_t runs = options.executions.value_or(runs_that_fit(2 * kSecond, last, 5, 50));
  if (runs == 0) throw ToolError("a profile takes at least one run");
  std::vector<uint64_t> traced;
  std::vector<uint64_t> untraced;
  for (size_t i = 0; i < runs; ++i) {
    untraced.push_back(timed_run(method, inputs, nullptr));
    traced.push_back(timed_run(method, inputs, &trace));
  }
  if (runs >= kRunsToCompare) result.trace_overhead = median(traced) / median(untraced) - 1;
  result.memory = platform::resident_memory();
  return result;
}

}  // namespace vitrine::tools
