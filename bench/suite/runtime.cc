// Measures executor steps (with and without tracing), loading of methods, setting of inputs,
// lowering of a model, and inspection of a trace.
#include <fmt/format.h>

#include <span>

#include "bench/suite/chain.h"
#include "bench/suite/loaded_program.h"
#include "bench/suite/lowered.h"
#include "bench/suite/made_trace.h"
#include "bench/suite/section.h"
#include "examples/models/mobilenet_v2.h"
#include "runtime/extension/trace_buffer.h"
#include "runtime/platform/clock.h"
#include "tools/common/tool_error.h"

namespace vitrine::bench {
namespace {

using tools::check;

constexpr int kSteps = 1000;

// Times the tasks alternately and adds a result for each task. One run of a task does `divisor`
// units of work; the result is the time of one unit. The span is valid until more results are
// added.
std::span<Result> record(Suite& suite, const std::string& name,
                         const std::vector<const char*>& variants, std::vector<TimedTask>& tasks,
                         double divisor, double full_ns = 1e9) {
  interleave(tasks, {suite.options.is_full() ? full_ns : full_ns / 8, 3});
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (double& sample : tasks[i].samples) sample /= divisor;
    suite.results.results.push_back({.section = "runtime",
                                     .name = name,
                                     .variant = variants[i],
                                     .threads = 1,
                                     .work = {},
                                     .time = timing_of(tasks[i].samples)});
  }
  return std::span(suite.results.results).last(tasks.size());
}

void set_limit(Result& result, const char* limit, double ns) {
  result.limit = limit;
  result.of_limit = ns / result.time.p50;
}

void run_steps(Suite& suite) {
  TraceBuffer trace(2 * kSteps);
  Chain plain(kSteps);
  Chain traced(kSteps, &trace);
  std::vector<TimedTask> tasks = {{.run = [&] { check(plain.method().execute()); }},
                                  {.run =
                                       [&] {
                                         trace.clear();
                                         check(traced.method().execute());
                                       }},
                                  {.run = [&] { plain.call_kernel(kSteps); }},
                                  {.run = [] {
                                    for (int i = 0; i < kSteps; ++i) platform::quick_now_ns();
                                  }}};
  const std::span<Result> steps = record(
      suite, "a step", {"untraced", "traced", "its kernel alone", "one clock read"}, tasks, kSteps);
  set_limit(steps[0], "its kernel alone", steps[2].time.p50);
  set_limit(steps[1], "untraced step plus one clock read", steps[0].time.p50 + steps[3].time.p50);
}

void run_loads(Suite& suite) {
  Chain chain(kSteps);
  std::vector<TimedTask> tasks = {{.run = [&] { chain.load(); }}};
  record(suite, "Method::load of 1000 instructions", {"portable"}, tasks, 1);
  std::vector<TimedTask> inputs = {{.run = [&] {
    for (int i = 0; i < kSteps; ++i) chain.set_input(0);
  }}};
  record(suite, "set_input of one element", {"copied"}, inputs, kSteps);
}

void run_traced_model(Suite& suite) {
  const auto file = suite.scratch / "traced.pte";
  write_lowered(examples::mobilenet_v2(), Backend::kXnnpack, {}, false, file);
  TraceBuffer trace(size_t{1} << 16);
  LoadedProgram program({file}, suite.pools.begin()->second, &trace);
  const auto run = [&](EventTracer* tracer) {
    trace.clear();
    program.set_inputs();
    program.method().set_tracer(tracer);
    program.execute();
  };
  std::vector<TimedTask> tasks = {{.run = [&] { run(nullptr); }}, {.run = [&] { run(&trace); }}};
  const std::span<Result> runs =
      record(suite, "mobilenet_v2 by XNNPACK", {"untraced", "traced"}, tasks, 1, 2e9);
  set_limit(runs[1], "untraced", runs[0].time.p50);
}

void run_lowering(Suite& suite) {
  const auto file = suite.scratch / "lowered.pte";
  const auto lower_to = [&](Backend backend) {
    return [&file, backend] { write_lowered(examples::mobilenet_v2(), backend, {}, false, file); };
  };
  std::vector<TimedTask> tasks = {{.run = lower_to(Backend::kNone)},
                                  {.run = lower_to(Backend::kXnnpack)}};
  record(suite, "building and lowering mobilenet_v2", {"no backend", "XNNPACK"}, tasks, 1, 2e9);
}

void run_inspector(Suite& suite) {
  const int runs = suite.options.is_full() ? 4000 : 400;
  const std::vector<std::byte> trace = make_trace(runs);
  const etrecord::EtRecord made = make_record();
  std::vector<TimedTask> tasks = {{.run = [&] { inspect_trace(trace, made); }}};
  record(suite, "inspector, an event", {"read, joined, grouped"}, tasks,
         runs * (kTraceOperators + 2.0), 3e9);
}

struct RuntimeCase {
  const char* name;
  double seconds;
  void (*run)(Suite&);
};
constexpr RuntimeCase kRuntimeCases[] = {{"steps", 2, run_steps},
                                         {"loading", 2, run_loads},
                                         {"tracing a model", 5, run_traced_model},
                                         {"lowering", 5, run_lowering},
                                         {"inspector", 4, run_inspector}};

}  // namespace

void add_runtime(Suite& suite) {
  if (suite.options.is_check()) return;  // times alone
  for (const RuntimeCase& each : kRuntimeCases) {
    if (!suite.options.wants(each.name)) continue;
    suite.progress.add(each.name, suite.options.is_full() ? each.seconds : each.seconds / 6,
                       [&suite, &each] { each.run(suite); });
  }
}

}  // namespace vitrine::bench
