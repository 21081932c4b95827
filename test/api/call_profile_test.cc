#include "vitrine/call_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api/hash_index.h"
#include "runtime/platform/clock.h"
#include "runtime/platform/file.h"
#include "runtime/program/program_access.h"
#include "test/support/corpus.h"
#include "test/support/results.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;
using Row = CallProfile::Row;
using nlohmann::json;
using test::require;
using test::sample;

TraceRecord record_of(Kind kind, const char* name, std::string_view metadata, uint64_t ns,
                      int32_t instruction = kUnsetInstructionId) {
  return {.start_ns = 1000,
          .end_ns = 1000 + ns,
          .name = name,
          .metadata = metadata.data(),
          .metadata_size = static_cast<uint32_t>(metadata.size()),
          .chain_index = kind == Kind::kScope ? kUnsetChainIndex : 0,
          .instruction_id = instruction,
          .kind = kind};
}

TraceRecord kernel(int32_t instruction, uint64_t ns) {
  return record_of(Kind::kKernelCall, "aten::add.out", "portable", ns, instruction);
}

TraceRecord inside(int32_t instruction, int32_t identifier, uint64_t ns) {
  TraceRecord record = record_of(Kind::kDelegateOperator, nullptr, "Convolution", ns, instruction);
  record.delegate_debug_id = identifier;
  return record;
}

TraceRecord delegate(int32_t instruction, uint64_t ns) {
  return record_of(Kind::kDelegateCall, "XnnpackBackend", "", ns, instruction);
}

json parsed(CallProfile& profile) { return json::parse(require(profile.json())); }

void run(CallProfile& profile, std::initializer_list<TraceRecord> records, uint64_t ns) {
  profile.begin_block("Execute");
  for (const TraceRecord& each : records) profile.record(each);
  profile.record(record_of(Kind::kScope, "Method::execute", "", ns));
}

json times(uint64_t calls, uint64_t total, uint64_t min, uint64_t max) {
  return {{"calls", calls}, {"total_ns", total}, {"min_ns", min}, {"max_ns", max}};
}

json joined(json row, const json& more) {
  row.update(more);
  return row;
}

TEST(CallProfile, AddsUpTimesByInstructionAndOperator) {
  CallProfile profile;
  profile.begin_method("forward");
  profile.begin_block("Default");
  profile.record(record_of(Kind::kScope, "Method::init", "", 70));
  profile.record(record_of(Kind::kScope, "Program::load_method", "", 90));
  // Operators are logged before the call that contains them.
  run(profile, {kernel(0, 5), inside(1, 7, 10), inside(1, 8, 20), delegate(1, 35)}, 50);
  run(profile, {kernel(0, 9), inside(1, 7, 30), inside(1, 8, 2), delegate(1, 33)}, 60);

  const json made = parsed(profile);
  EXPECT_EQ(made.at("schema_version"), 1);
  ASSERT_EQ(made.at("methods").size(), 1);
  json method = made.at("methods")[0];
  const json rows = method.at("rows");
  method.erase("rows");
  EXPECT_EQ(method, joined({{"method", "forward"}, {"load_ns", 90}, {"first_ns", 50}},
                           times(2, 110, 50, 60)));
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows[0], joined({{"where", "kernel"},
                             {"chain", 0},
                             {"instruction", 0},
                             {"kernel", "aten::add.out"},
                             {"library", "portable"}},
                            times(2, 14, 5, 9)));
  const json operators = {
      joined({{"identifier", "7"}, {"kernel", "Convolution"}}, times(2, 40, 10, 30)),
      joined({{"identifier", "8"}, {"kernel", "Convolution"}}, times(2, 22, 2, 20))};
  EXPECT_EQ(rows[1], joined({{"where", "delegate"},
                             {"chain", 0},
                             {"instruction", 1},
                             {"delegate", "XnnpackBackend"},
                             {"operators", operators}},
                            times(2, 68, 33, 35)));
}

TEST(CallProfile, KeepsInstructionsOfDifferentBranchesSeparate) {
  CallProfile profile;
  profile.begin_method("forward");
  run(profile, {kernel(0, 1), kernel(2, 2), kernel(3, 3)}, 6);
  run(profile, {kernel(0, 1), kernel(1, 4), kernel(3, 3), kernel(0, 5)}, 13);
  const json method = parsed(profile).at("methods").at(0);
  std::vector<uint64_t> totals;
  for (const json& row : method.at("rows")) totals.push_back(row.at("total_ns"));
  EXPECT_THAT(totals, testing::ElementsAre(7, 4, 2, 6));  // in order of instructions
}

TEST(CallProfile, AcceptsInstructionsInAnyOrder) {
  constexpr int32_t kCount = 20'000;
  CallProfile profile;
  profile.begin_method("forward");
  for (const int32_t step : {1, 7919}) {  // 7919 is prime, so the loop visits each instruction once
    profile.begin_block("Execute");
    for (int64_t i = 0; i < kCount; ++i) {
      const auto instruction = static_cast<int32_t>(i * step % kCount);
      profile.record(inside(instruction, 7, 1));
      profile.record(inside(instruction, 7, 2));
      profile.record(delegate(instruction, 4 + static_cast<uint64_t>(instruction)));
    }
    profile.record(record_of(Kind::kScope, "Method::execute", "", 5));
  }
  const auto rows = require(profile.methods()).front().rows;
  ASSERT_EQ(rows.size(), 3U * kCount);
  for (size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].instruction, static_cast<int32_t>(i / 3));
    ASSERT_EQ(rows[i].times.calls, 2U);
    const uint64_t expected[] = {4 + i / 3, 1, 2};
    ASSERT_EQ(rows[i].times.max_ns, expected[i % 3]);
    ASSERT_EQ(rows[i].times.total_ns, 2 * expected[i % 3]);
  }
}

TEST(CallProfile, KeepsMethodsSeparateAndResetsCallCounts) {
  CallProfile profile;
  for (const char* name : {"encode", "decode", "encode"}) {
    profile.begin_method(name);
    profile.begin_block("Default");
    profile.record(record_of(Kind::kScope, "Program::load_method", "", 90));
    run(profile, {kernel(0, 1)}, 2);
  }
  json methods = parsed(profile).at("methods");
  ASSERT_EQ(methods.size(), 2);
  EXPECT_EQ(methods[0].at("calls"), 2);
  EXPECT_EQ(methods[1].at("method"), "decode");
  EXPECT_EQ(methods[1].at("calls"), 1);

  profile.reset();
  methods = parsed(profile).at("methods");
  EXPECT_EQ(methods[0].at("load_ns"), 90);
  EXPECT_EQ(methods[0].at("calls"), 0);
  EXPECT_TRUE(methods[0].at("rows").empty());
  run(profile, {kernel(0, 3)}, 4);
  EXPECT_EQ(parsed(profile).at("methods")[0].at("total_ns"), 4);
}

TEST(CallProfile, OperatorsWithTheSameIdentifierHaveSeparateRows) {
  CallProfile profile;
  profile.begin_method("forward");
  for (const uint64_t ns : {1, 3}) {
    // Each instruction runs twice per call, as in a loop.
    run(profile,
        {inside(0, 9, ns), inside(0, 9, 10 * ns), delegate(0, 20 * ns), inside(0, 9, ns),
         inside(0, 9, 10 * ns), delegate(0, 20 * ns)},
        50 * ns);
  }
  const json rows = parsed(profile).at("methods").at(0).at("rows");
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0].at("total_ns"), 2 * (20 + 60));
  const json& operators = rows[0].at("operators");
  ASSERT_EQ(operators.size(), 2);
  EXPECT_EQ(operators[0].at("calls"), 4);
  EXPECT_EQ(operators[0].at("total_ns"), 2 * (1 + 3));
  EXPECT_EQ(operators[1].at("total_ns"), 2 * (10 + 30));
}

TEST(CallProfile, OmitsOperatorsOfFailedDelegateCalls) {
  CallProfile profile;
  profile.begin_method("forward");
  run(profile, {kernel(0, 1), inside(1, 7, 10)}, 20);
  EXPECT_EQ(parsed(profile).at("methods")[0].at("rows").size(), 1);
}

TEST(CallProfile, WritesValidJsonForAnyNames) {
  const std::string names[] = {"a\"b\\c\n\x01", "caf\xC3\xA9 \xF0\x9F\x98\x80"};
  CallProfile profile;
  for (const std::string& name : names) profile.begin_method(name);
  profile.begin_method("\xFF|\xC3|\xE0\x80\x80");
  const json methods = parsed(profile).at("methods");  // throws if it is not UTF-8
  EXPECT_EQ(methods.at(0).at("method"), names[0]);
  EXPECT_EQ(methods.at(1).at("method"), names[1]);
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(methods.at(2).at("method"), bad + "|" + bad + "|" + bad + bad + bad);
}

TEST(CallProfile, IsEmptyBeforeTheFirstCall) {
  CallProfile profile;
  profile.record(kernel(0, 1));
  EXPECT_TRUE(parsed(profile).at("methods").empty());
}

TEST(HashIndex, FindsManyItemsWithFewComparisons) {
  constexpr size_t kItems = 20'000;
  HashIndex index;
  size_t comparisons = 0;
  const auto find = [&](size_t item) {
    return index.find(platform::mix(7, item), [&](size_t each) {
      ++comparisons;
      return each == item;
    });
  };
  for (size_t i = 0; i < kItems; ++i) {
    ASSERT_EQ(find(i), HashIndex::kNone);
    ASSERT_TRUE(index.make_room().ok());
    index.add(platform::mix(7, i), i);
  }
  for (size_t i = kItems; i-- > 0;) ASSERT_EQ(find(i), i);
  EXPECT_LE(comparisons, kItems + kItems / 100);
  index.clear();
  EXPECT_EQ(find(0), HashIndex::kNone);
}

TEST(HashIndex, DistinguishesItemsWithTheSameHash) {
  HashIndex index;
  for (size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(index.make_room().ok());
    index.add(i % 2, i);
  }
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(index.find(i % 2, [i](size_t each) { return each == i; }), i);
    EXPECT_EQ(index.find(1 - i % 2, [i](size_t each) { return each == i; }), HashIndex::kNone);
  }
}

// Tests profiles of real programs. Their rows must match the instructions of the program, and their
// times must match the clock.

// Keeps the records of the latest call.
class CallRecorder final : public EventTracer {
 public:
  void begin_block(const char* /*name*/) override { records.clear(); }
  void record(const TraceRecord& record) override { records.push_back(record); }
  std::vector<TraceRecord> records;
};

struct Profiled {
  explicit Profiled(const std::string& name, size_t runs) {
    module = require(
        Module::load(sample(name + "/model.pte").c_str(), {.threads = 1, .tracer = &profile}));
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
    const auto methods = require(profile.methods());
    EXPECT_EQ(methods.size(), 1);
    return methods.front();
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
