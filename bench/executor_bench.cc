// Measures a step of the executor, untraced and traced, on a chain of 1000 one-element additions.
#include <benchmark/benchmark.h>

#include "bench/chain.h"
#include "bench/paired.h"
#include "formats/etdump/trace_buffer.h"
#include "host/tool_error.h"

namespace vitrine::bench {
namespace {

using tools::check;

constexpr int kSteps = 1000;

void BM_Step(benchmark::State& state) {
  Chain chain(kSteps);
  for (auto _ : state) check(chain.method().execute());
  state.counters["ns_per_step"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSteps * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// ns_more: the cost of tracing per step.
void BM_TracedStep(benchmark::State& state) {
  TraceBuffer trace(2 * kSteps);
  Chain chain(kSteps, &trace);
  run_paired(
      state,
      [&] {
        chain.method().set_tracer(nullptr);
        check(chain.method().execute());
      },
      [&] {
        trace.clear();
        chain.method().set_tracer(&trace);
        check(chain.method().execute());
      });
  state.counters["ns_more_per_step"] =
      (state.counters["subject_us"] - state.counters["baseline_us"]) * 1000 / kSteps;
}

BENCHMARK(BM_Step);
BENCHMARK(BM_TracedStep)->Iterations(2000);

}  // namespace
}  // namespace vitrine::bench

BENCHMARK_MAIN();
