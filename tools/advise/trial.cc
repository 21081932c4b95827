#include "tools/advise/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <random>
#include <thread>

#include "runtime/platform/clock.h"
#include "tools/common/interrupt.h"
#include "tools/common/median.h"
#include "tools/common/output_difference.h"
#include "tools/common/profile_report.h"
#include "tools/common/tool_error.h"
#include "tools/executor_runner/execution.h"

namespace vitrine::tools {
namespace {

constexpr size_t kBlocks = 6;
constexpr size_t kMinPairs = 3;       // minimum per block
constexpr size_t kMaxPairs = 200;     // maximum per block
constexpr double kMinSampleNs = 1e5;  // a sample of short runs is a mean of several
// An idle worker spins for 0.25 ms before it sleeps (docs/performance.md).
constexpr std::chrono::microseconds kUntilWorkersSleep(500);

double now() { return static_cast<double>(platform::now_ns()); }

// Smaller differences count as rounding. The limit is relative to the root mean square of the
// expected values.
double rounding_limit(const std::string& type) {
  return type.starts_with("f16") || type.starts_with("bf16") ? 1e-2 : 1e-4;
}

OutputChange describe_change(const std::vector<inspector::OutputDifference>& outputs) {
  OutputChange change{.text = "equal", .is_safe = true};
  double worst = 0;
  double min_sqnr = std::numeric_limits<double>::infinity();
  for (const inspector::OutputDifference& output : outputs) {
    if (!output.why_not.empty()) {
      return {fmt::format("output {} not compared: {}", output.index, output.why_not), false};
    }
    const inspector::TensorDifference& figures = output.figures;
    if (figures.mismatches == 0 || figures.elements == 0) continue;
    const double scale = std::sqrt(figures.expected_square / static_cast<double>(figures.elements));
    const double relative = scale > 0 ? figures.max_abs / scale : figures.max_abs;
    worst = std::max(worst, std::isfinite(relative) ? relative : 1e9);
    min_sqnr = std::min(min_sqnr, figures.sqnr_db);
    change.is_safe &= relative <= rounding_limit(output.a);
  }
  if (worst == 0) return change;
  change.text = change.is_safe ? fmt::format("equal to 1e{:.0f}", std::ceil(std::log10(worst)))
                               : fmt::format("SQNR {:.1f} dB", min_sqnr);
  return change;
}

// Returns the mean time of `count` runs of `side`. If the other program has its own pool, first
// waits until that pool's workers sleep, and wakes the pool of `side` with an unmeasured run.
double sample(LoadedProgram& side, size_t count, bool has_other_pool) {
  if (has_other_pool) {
    std::this_thread::sleep_for(kUntilWorkersSleep);
    side.run(1);
  }
  return side.run(count);
}

}  // namespace

std::shared_ptr<ThreadPool> Pools::get(size_t threads) {
  std::shared_ptr<ThreadPool>& pool = pools_[threads];
  if (!pool) pool = check(ThreadPool::create(threads));
  return pool;
}

LoadedProgram::LoadedProgram(const RunnableProgram& program, const RunnerOptions& options,
                             Pools& pools, const InputSet& inputs)
    : options_(options) {
  const double start = now();
  SessionOptions session = session_options(options);
  session.program = program.bytes;
  session.pool = pools.get(program.threads);
  session_ = std::make_unique<Session>(session);
  method_ = session_->load_method(options.method);
  load_ns_ = now() - start;
  inputs_.emplace(*method_, inputs);
}

double LoadedProgram::run(size_t count) {
  const double start = now();
  for (size_t i = 0; i < count; ++i) {
    inputs_->apply(*method_);
    execute(*method_, options_);
  }
  return (now() - start) / static_cast<double>(count);
}

double memory_of(const Method& method) {
  const inspector::MemoryInfo memory = memory_info(method.memory_usage());
  return static_cast<double>(memory.planned + memory.metadata + memory.workspace +
                             memory.packed_weights + memory.constants);
}

TrialResult run_trial(const RunnableProgram& a, const RunnableProgram& b,
                      const RunnerOptions& options, Pools& pools, const InputSet& inputs,
                      double seconds) {
  TrialResult result;
  std::vector<double> times_a, times_b;
  std::optional<LoadedProgram> one, other;
  std::mt19937 order;
  const double block_ns = seconds * 1e9 / kBlocks;
  for (size_t block = 0; block < kBlocks; ++block) {
    const bool is_quick = one && one->load_ns() + other->load_ns() < block_ns / 4;
    if (!one || is_quick) {
      other.reset();
      one.emplace(a, options, pools, inputs);
      other.emplace(b, options, pools, inputs);
    }
    const bool has_other_pool = one->pool() != other->pool();
    double run_ns = one->run(1) + other->run(1);
    if (block == 0) {
      // Both programs start their first runs in their initial state.
      result.outputs = describe_change(compare_outputs(one->method(), other->method()));
      result.memory_change = memory_of(other->method()) - memory_of(one->method());
    }
    // Slow programs skip the second warm-up run.
    const bool is_slow = 2 * kMinPairs * run_ns > block_ns;
    if (!is_slow) run_ns = one->run(1) + other->run(1);
    run_ns = std::max(run_ns / 2, 1.0);
    const auto count = static_cast<size_t>(std::clamp(kMinSampleNs / run_ns, 1.0, 1000.0));
    std::vector<double> ratios;
    const double end = now() + block_ns;
    while (ratios.size() < (is_slow ? 1 : kMinPairs) ||
           (ratios.size() < kMaxPairs && now() < end)) {
      const bool a_is_first = order() % 2 == 0;
      double first = sample(a_is_first ? *one : *other, count, has_other_pool);
      double second = sample(a_is_first ? *other : *one, count, has_other_pool);
      if (!a_is_first) std::swap(first, second);
      times_a.push_back(first);
      times_b.push_back(second);
      ratios.push_back(second / first);
      if (stop_flag()) break;
    }
    result.blocks.push_back(median_of(ratios));
    if (stop_flag()) break;
  }
  result.pairs = times_a.size();
  result.a_ns = median_of(std::move(times_a));
  result.b_ns = median_of(std::move(times_b));
  return result;
}

}  // namespace vitrine::tools
