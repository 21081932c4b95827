// Tests profiles of real programs. Their rows must match the instructions of the program, and their
// times must match the clock.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "runtime/platform/clock.h"
#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "vitrine/call_profile.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;
using Row = CallProfile::Row;
using test::sample;

// Keeps the records of the latest call.
class CallRecorder final : public EventTracer {
 public:
  void begin_block(const char* /*name*/) override { records.clear(); }
  void record(const TraceRecord& record) override { records.push_back(record); }
  std::vector<TraceRecord> records;
};

struct Profiled {
  explicit Profiled(const std::string& name, size_t runs) {
    auto loaded =
        Module::load(sample(name + "/model.pte").c_str(), {.threads = 1, .tracer = &profile});
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    module.emplace(std::move(*loaded));
    for (size_t i = 0; i < runs; ++i) call();
  }
  void call() {
    const std::vector<Value> inputs = zeros();
    const uint64_t start = platform::now_ns();
    EXPECT_TRUE(module->forward(inputs).ok());
    wall_ns += platform::now_ns() - start;
  }
  std::vector<Value> zeros() const {
    std::vector<Value> inputs;
    const auto meta = module->method_meta("forward");
    for (size_t i = 0; i < meta->num_inputs(); ++i) {
      const TensorInfo info = meta->input_tensor(i);
      inputs.emplace_back(*Array::zeros(info.dtype, info.sizes));
    }
    return inputs;
  }
  CallProfile::MethodCalls forward() {
    const auto methods = profile.methods();
    EXPECT_TRUE(methods.ok()) << methods.error().message();
    EXPECT_EQ(methods->size(), 1);
    return methods->front();
  }

  CallProfile profile;
  std::optional<Module> module;
  uint64_t wall_ns = 0;
};

constexpr size_t kRuns = 3;

class ProfiledCalls : public testing::TestWithParam<const char*> {};

TEST_P(ProfiledCalls, ListInstructionsInProgramOrder) {
  Profiled run(GetParam(), kRuns);
  const MethodMeta meta = *run.module->method_meta("forward");
  std::vector<std::string> wanted;
  const auto& chain = *ProgramAccess::plan(meta).chains()->Get(0);
  for (const auto* instruction : *chain.instructions()) {
    if (const auto* call = instruction->instr_args_as_KernelCall()) {
      const auto [name, overload] = meta.operator_name(static_cast<size_t>(call->op_index()));
      wanted.push_back(std::string(name) + "." + std::string(overload));
    } else if (const auto* delegate = instruction->instr_args_as_DelegateCall()) {
      wanted.emplace_back(meta.delegate_id(static_cast<size_t>(delegate->delegate_index())));
    } else {
      wanted.emplace_back();
    }
  }
  std::vector<std::string> got;
  for (const Row& row : run.forward().rows) {
    if (row.kind == Kind::kDelegateOperator) continue;
    EXPECT_EQ(row.chain, 0);
    EXPECT_EQ(row.instruction, static_cast<int32_t>(got.size()));
    got.emplace_back(row.name);
  }
  EXPECT_EQ(got, wanted);
}

TEST_P(ProfiledCalls, ListTheOperatorsThatTheDelegateLogs) {
  CallRecorder recorder;
  auto module =
      Module::load(sample(std::string(GetParam()) + "/model.pte").c_str(), {.tracer = &recorder});
  Profiled run(GetParam(), kRuns);
  ASSERT_TRUE(module->forward(run.zeros()).ok());
  std::vector<std::string> wanted;
  for (const TraceRecord& record : recorder.records) {
    if (record.kind != Kind::kDelegateOperator) continue;
    wanted.push_back(record.name != nullptr ? record.name
                                            : std::to_string(record.delegate_debug_id));
    wanted.emplace_back(record.metadata, record.metadata_size);
  }
  std::vector<std::string> got;
  for (const Row& row : run.forward().rows) {
    if (row.kind != Kind::kDelegateOperator) continue;
    got.emplace_back(row.name);
    got.emplace_back(row.implementation);
  }
  EXPECT_EQ(got, wanted);
}

TEST_P(ProfiledCalls, AddUpToNoMoreThanWallTime) {
  Profiled run(GetParam(), kRuns);
  const CallProfile::MethodCalls forward = run.forward();
  EXPECT_GT(forward.load_ns, 0);
  EXPECT_EQ(forward.times.calls, kRuns);
  EXPECT_LE(forward.times.total_ns, run.wall_ns);
  EXPECT_LE(forward.first_ns, forward.times.max_ns);
  EXPECT_DOUBLE_EQ(forward.times.mean_ns() * kRuns, static_cast<double>(forward.times.total_ns));
  uint64_t instructions = 0;
  uint64_t operators = 0;
  uint64_t delegate = 0;
  for (const Row& row : forward.rows) {
    EXPECT_EQ(row.times.calls, kRuns);
    EXPECT_LE(row.times.min_ns * kRuns, row.times.total_ns);
    EXPECT_GE(row.times.max_ns * kRuns, row.times.total_ns);
    if (row.kind == Kind::kDelegateOperator) {
      operators += row.times.total_ns;
      EXPECT_LE(operators, delegate);
    } else {
      instructions += row.times.total_ns;
      delegate = row.times.total_ns;
      operators = 0;
    }
  }
  EXPECT_GT(instructions, 0);
  EXPECT_LE(instructions, forward.times.total_ns);
}

TEST_P(ProfiledCalls, StartAtZeroAfterAReset) {
  Profiled run(GetParam(), kRuns);
  const uint64_t load_ns = run.forward().load_ns;
  const size_t num_rows = run.forward().rows.size();
  run.profile.reset();
  EXPECT_EQ(run.forward().load_ns, load_ns);
  EXPECT_EQ(run.forward().times.calls, 0);
  EXPECT_TRUE(run.forward().rows.empty());
  run.call();
  EXPECT_EQ(run.forward().times.calls, 1);
  EXPECT_EQ(run.forward().first_ns, run.forward().times.total_ns);
  EXPECT_EQ(run.forward().rows.size(), num_rows);
}

INSTANTIATE_TEST_SUITE_P(Samples, ProfiledCalls,
                         testing::Values("digits_portable", "digits_xnnpack", "mv2_025_xnnpack"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace vitrine
