#include "tools/executor_runner/profiling.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/etdump/extensions.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/memory.h"
#include "tools/common/interrupt.h"
#include "tools/common/median.h"
#include "tools/common/progress.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"

namespace vitrine::tools {
namespace {

// Traces the first run as a warm-up: caches are cold and memory is not mapped yet. Returns the time
// of the run in ns.
uint64_t timed_cold_run(Method& method, InputSet& inputs, TraceBuffer& trace,
                        const RunnerOptions& options) {
  inputs.apply(method);
  method.set_tracer(&trace);
  const uint64_t start = platform::now_ns();
  execute(method, options);
  const uint64_t end = platform::now_ns();
  trace.record({.start_ns = start, .end_ns = end, .name = etdump::kWarmUp});
  return end - start;
}

uint64_t timed_run(Method& method, InputSet& inputs, EventTracer* tracer,
                   const RunnerOptions& options) {
  inputs.apply(method);
  method.set_tracer(tracer);
  const uint64_t start = platform::now_ns();
  execute(method, options);
  return platform::now_ns() - start;
}

double counter_reading_ns() {
  constexpr int kReadings = 1000;
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 10; ++i) {
    const uint64_t start = platform::now_ns();
    for (int k = 0; k < kReadings; ++k) platform::ticks();
    best = std::min(best, platform::now_ns() - start);
  }
  return static_cast<double>(best) / kReadings;
}

// Returns how often tracing read the processor's counter in the last traced run: once for each
// record, once more for each delegate call, and twice for the run.
double num_readings(const TraceBuffer& trace) {
  if (trace.blocks().empty()) return 0;
  const TraceBuffer::Block& run = trace.blocks().back();
  const auto delegates =
      std::ranges::count(trace.records(run), TraceRecord::Kind::kDelegateCall, &TraceRecord::kind);
  return static_cast<double>(run.count + run.dropped) + static_cast<double>(delegates) + 2;
}

// With fewer traced runs, a single slow run would dominate the overhead.
constexpr size_t kMinRunsForOverhead = 5;

}  // namespace

size_t num_runs_within(double budget_ns, uint64_t run_ns, size_t min_runs, size_t max_runs) {
  const double fit = budget_ns / static_cast<double>(std::max<uint64_t>(run_ns, 1));
  return static_cast<size_t>(
      std::clamp(fit, static_cast<double>(min_runs), static_cast<double>(max_runs)));
}

size_t num_warmup_runs(uint64_t run_ns) { return num_runs_within(0.5 * kSecond, run_ns, 1, 5); }

std::string interrupted_text(size_t done, size_t runs) {
  return fmt::format("interrupted after {} of {} runs", done, runs);
}

ProfiledRuns run_profiled(Method& method, InputSet& inputs, TraceBuffer& trace,
                          const RunnerOptions& options) {
  ProfiledRuns result;
  uint64_t last = 0;
  result.warmup = options.warmup.value_or(1);
  for (size_t i = 0; i < result.warmup; ++i) {
    last = i == 0 ? timed_cold_run(method, inputs, trace, options)
                  : timed_run(method, inputs, nullptr, options);
    if (i == 0 && !options.warmup) result.warmup = num_warmup_runs(last);
  }
  if (last == 0) last = static_cast<uint64_t>(kSecond);  // without a warm-up, runs may be long
  const size_t runs = options.executions.value_or(num_runs_within(2 * kSecond, last, 5, 50));
  if (runs == 0) throw ToolError("a profile needs at least one run");
  std::vector<double> traced;
  std::vector<double> untraced;
  const CpuMeter meter;
  Progress progress("profiling");
  for (size_t i = 0; i < runs; ++i) {
    if (stop_flag() && i > 0) {
      result.interrupted = interrupted_text(i, runs);
      break;
    }
    progress.update(i, runs);
    untraced.push_back(static_cast<double>(timed_run(method, inputs, nullptr, options)));
    traced.push_back(static_cast<double>(timed_run(method, inputs, &trace, options)));
  }
  result.cpu = meter.read();
  if (traced.size() >= kMinRunsForOverhead) {
    result.trace_overhead = median_of(traced) / median_of(untraced) - 1;
    result.trace_floor = num_readings(trace) * counter_reading_ns() / median_of(untraced);
  }
  result.memory = platform::resident_memory();
  return result;
}

}  // namespace vitrine::tools
