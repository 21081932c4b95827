// Measures single operators with portable kernels, with optimized kernels and in a delegate.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "backends/xnnpack/aot/operator_table.h"
#include "bench/suite/loaded_program.h"
#include "bench/suite/lowered.h"
#include "bench/suite/op_cases.h"
#include "bench/suite/section.h"

namespace vitrine::bench {
namespace {

constexpr double kMinSqnrDb = 60;

aot::ExportedProgram program_of(const OpCase& op, int64_t size) {
  aot::ModelBuilder build("vitrine.bench.Operator");
  return build.finish({op.build(build, size)});
}

std::string name_of(const OpCase& op) {
  const std::string name(op.op.substr(0, op.op.find('.')));
  return op.what.empty() ? name : fmt::format("{} ({})", name, op.what);
}

struct OpVariant {
  const char* name;
  bool optimized;
  bool delegated;
};
constexpr OpVariant kVariants[] = {
    {"portable", false, false}, {"optimized", true, false}, {"xnnpack", true, true}};

void set_limit(Result& result, const OpCase& op, double bytes, const Results& limits) {
  const bool computes = op.multiply_adds != nullptr;
  const auto& rates = computes ? limits.multiply_adds_per_s : limits.copy_bytes_per_s;
  result.limit = computes ? "multiply-adds" : "copy";
  const auto rate = rates.find(result.threads);
  if (rate == rates.end() || !result.has_time()) return;
  const double amount = computes ? 2 * *result.work : bytes;
  result.of_limit = amount / result.time.p50 * 1e9 / rate->second;
}

void run_case(Suite& suite, const OpCase& op, int64_t size, size_t threads) {
  // The caller's memory for inputs and outputs avoids copies.
  aot::EmitOptions emit;
  emit.memory_planning.alloc_graph_input = false;
  emit.memory_planning.alloc_graph_output = false;
  const auto plain = suite.scratch / "op.pte";
  const auto delegated = suite.scratch / "op_xnnpack.pte";
  write_lowered(program_of(op, size), Backend::kNone, emit, false, plain);
  const bool is_delegated =
      write_lowered(program_of(op, size), Backend::kXnnpack, emit, false, delegated).delegates != 0;
  std::vector<std::unique_ptr<LoadedProgram>> programs;
  std::vector<TimedTask> tasks;
  std::vector<Result> results;
  for (const OpVariant& variant : kVariants) {
    if (variant.delegated && !is_delegated) continue;
    programs.push_back(std::make_unique<LoadedProgram>(
        ProgramUse{variant.delegated ? delegated : plain, variant.optimized, op.positive_inputs},
        suite.pools.at(threads)));
    LoadedProgram& program = *programs.back();
    tasks.push_back(program.timed_task());
    Result& result = results.emplace_back();
    result = {.section = "operators",
              .name = name_of(op),
              .variant = variant.name,
              .threads = threads,
              .work = {},
              .time = {}};
    program.set_counts(result);
    const Tensor& out = programs.front()->method().output(0).unchecked_tensor();
    result.work =
        op.multiply_adds != nullptr ? op.multiply_adds(size) : static_cast<double>(out.numel());
    result.sqnr_db = agreement(programs.front()->method(), program.method(), result.note);
    if (result.sqnr_db && *result.sqnr_db < kMinSqnrDb) {
      result.note =
          fmt::format("outputs differ from those of portable: {:.0f} dB", *result.sqnr_db);
    }
  }
  if (!suite.options.is_check()) {
    interleave(tasks, {suite.options.is_full() ? 60e6 : 8e6, 3});
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].note.empty()) results[i].time = timing_of(tasks[i].samples);
    set_limit(results[i], op, programs[i]->argument_bytes(), suite.results);
    suite.results.results.push_back(results[i]);
  }
}

void run_op(Suite& suite, const OpCase& op, size_t threads) {
  auto sizes = op_sizes(op, suite.options.is_full());
  // Larger sizes would take minutes under emulation.
  if (suite.options.is_check()) sizes = sizes.first(std::min<size_t>(2, sizes.size()));
  for (const int64_t size : sizes) run_case(suite, op, size, threads);
}

// Lists the backend's operators without a case in the suite.
std::string unmeasured() {
  std::string names;
  for (const auto& op : aot::xnnpack::operators()) {
    if (!op.is_delegated()) continue;
    const bool has_case =
        std::ranges::any_of(op_cases(), [&](const OpCase& each) { return each.op == op.op; });
    if (!has_case) names += (names.empty() ? "" : ", ") + std::string(op.op);
  }
  return names;
}

}  // namespace

void add_operators(Suite& suite) {
  suite.results.facts["operators without a case"] = unmeasured();
  std::vector<size_t> threads = {suite.options.threads.front()};
  if (!suite.options.is_short() && suite.options.threads.size() > 1) {
    threads.push_back(suite.options.threads.back());
  }
  for (const OpCase& op : op_cases()) {
    if (!suite.options.wants(name_of(op))) continue;
    for (const size_t count : threads) {
      suite.progress.add(fmt::format("{}, threads: {}", name_of(op), count),
                         suite.options.is_full() ? 1.2 : 0.15,
                         [&suite, &op, count] { run_op(suite, op, count); });
    }
  }
}

}  // namespace vitrine::bench
