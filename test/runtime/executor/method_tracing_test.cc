#include <string>
#include <vector>

#include "runtime/platform/clock.h"
#include "test/runtime/executor/method_fixture.h"
#include "vitrine/value_tracer.h"

namespace vitrine {
namespace {

using Kind = TraceRecord::Kind;
using testing::ElementsAre;

// A tracer that stores all blocks and records in order.
class Recorder final : public EventTracer {
 public:
  void begin_block(const char* name) override { blocks.emplace_back(name); }
  void record(const TraceRecord& taken) override { records.push_back(taken); }

  std::vector<std::string> blocks;
  std::vector<TraceRecord> records;
};

class TracedMethodTest : public test::MethodTest {
 protected:
  Error execute(Method& method) {
    VITRINE_RETURN_IF_ERROR(method.set_input(0, value({2, 3}, {1, 2, 3, 4, 5, 6})));
    return method.execute();
  }
};

class MethodTraceTest : public TracedMethodTest {
 protected:
  // One instruction of each kind: move, kernel, delegate, free, jump.
  MethodTraceTest() {
    build_scaling();
    const int number = forward_.integer(0);
    forward_.chains[0].clear();
    forward_.move(forward_.integer(1), number);
    forward_.kernel_call(0, {x_, number, out_, out_});
    forward_.delegate_call(delegate(3), {x_, out_});
    forward_.free(x_);
    forward_.jump_false(forward_.boolean(true), 0);
  }
  Recorder trace_;
};

TEST_F(MethodTraceTest, RecordsTheStagesOfLoading) {
  const uint64_t before = platform::now_ns();
  const auto method = load({.tracer = &trace_});
  const uint64_t after = platform::now_ns();
  EXPECT_THAT(trace_.blocks, ElementsAre("Default"));
  ASSERT_EQ(trace_.records.size(), 4u);
  const TraceRecord& delegates = trace_.records[0];
  const TraceRecord& plan = trace_.records[1];
  const TraceRecord& init = trace_.records[2];
  const TraceRecord& whole = trace_.records[3];
  EXPECT_STREQ(delegates.name, "Method::init_delegates");
  EXPECT_STREQ(plan.name, "Method::plan_delegates");
  EXPECT_STREQ(init.name, "Method::init");
  EXPECT_STREQ(whole.name, "Program::load_method");
  for (const TraceRecord& record : trace_.records) {
    EXPECT_EQ(record.kind, Kind::kScope);
    EXPECT_EQ(record.chain_index, kUnsetChainIndex);
    EXPECT_EQ(record.delegate_debug_id, kUnsetDelegateDebugId);
  }
  const uint64_t times[] = {before,           whole.start_ns, init.start_ns, delegates.start_ns,
                            delegates.end_ns, plan.start_ns,  plan.end_ns,   init.end_ns,
                            whole.end_ns,     after};
  EXPECT_TRUE(std::ranges::is_sorted(times)) << testing::PrintToString(times);
}

TEST_F(MethodTraceTest, RecordsEachStepAndTheTotalOfAnExecution) {
  const auto method = load({.tracer = &trace_});
  trace_ = {};
  const uint64_t before = platform::now_ns();
  ASSERT_TRUE(execute(*method).ok());
  const uint64_t after = platform::now_ns();

  EXPECT_THAT(trace_.blocks, ElementsAre("Execute"));
  std::vector<Kind> kinds;
  for (const TraceRecord& record : trace_.records) kinds.push_back(record.kind);
  ASSERT_THAT(kinds, ElementsAre(Kind::kMove, Kind::kKernelCall, Kind::kDelegateOperator,
                                 Kind::kDelegateCall, Kind::kFree, Kind::kJumpFalse, Kind::kScope));

  const std::vector<int32_t> instructions{0, 1, 2, 2, 3, 4};
  for (size_t i = 0; i < instructions.size(); ++i) {
    EXPECT_EQ(trace_.records[i].chain_index, 0) << i;
    EXPECT_EQ(trace_.records[i].instruction_id, instructions[i]) << i;
    EXPECT_LE(trace_.records[i].start_ns, trace_.records[i].end_ns) << i;
  }
  const TraceRecord& kernel = trace_.records[1];
  EXPECT_STREQ(kernel.name, "test::scale.out");
  EXPECT_EQ(std::string_view(kernel.metadata, kernel.metadata_size), "test") << "the kernel table";
  const TraceRecord& delegated = trace_.records[2];
  const TraceRecord& delegate = trace_.records[3];
  EXPECT_EQ(delegated.name, nullptr);
  EXPECT_EQ(delegated.delegate_debug_id, test::TestBackend::kDebugId);
  EXPECT_EQ(std::string_view(delegated.metadata, delegated.metadata_size), "times");
  EXPECT_STREQ(delegate.name, "TestBackend");
  EXPECT_LE(delegate.start_ns, delegated.start_ns);
  EXPECT_LE(delegated.end_ns, delegate.end_ns);

  const TraceRecord& whole = trace_.records.back();
  EXPECT_STREQ(whole.name, "Method::execute");
  EXPECT_LE(before, whole.start_ns);
  EXPECT_LE(whole.start_ns, trace_.records[0].start_ns);
  EXPECT_LE(trace_.records[5].end_ns, whole.end_ns);
  EXPECT_LE(whole.end_ns, after);
}

// Since each step begins where the previous one ended, the times of the steps add up to the total.
TEST_F(MethodTraceTest, EachStepBeginsWhenThePreviousStepEnds) {
  const auto method = load({.tracer = &trace_});
  trace_ = {};
  ASSERT_TRUE(execute(*method).ok());
  const TraceRecord* last = nullptr;
  for (const TraceRecord& record : trace_.records) {
    if (record.kind == Kind::kDelegateOperator || record.kind == Kind::kScope) continue;
    if (last != nullptr) {
      EXPECT_EQ(record.start_ns, last->end_ns);
    }
    last = &record;
  }
}

TEST_F(MethodTraceTest, EachExecutionBeginsANewBlock) {
  const auto method = load({.tracer = &trace_});
  ASSERT_TRUE(execute(*method).ok());
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_THAT(trace_.blocks, ElementsAre("Default", "Execute", "Execute"));
}

TEST_F(MethodTraceTest, TracerCanBeReplaced) {
  const auto method = load();
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_TRUE(trace_.records.empty());
  method->set_tracer(&trace_);
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_EQ(trace_.records.size(), 7u);
  method->set_tracer(nullptr);
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_EQ(trace_.records.size(), 7u);
}

TEST_F(MethodTraceTest, RecordsEarlierStepsAndTheTotalIfExecutionFails) {
  forward_.op("test::fail", "out");
  forward_.chains[0][3] = {.kind = schema::program::InstructionArguments::KernelCall,
                           .first = 1,
                           .args = {x_, out_, out_}};
  const auto method = load({.tracer = &trace_});
  trace_ = {};
  EXPECT_FALSE(execute(*method).ok());
  ASSERT_EQ(trace_.records.size(), 5u);
  EXPECT_EQ(trace_.records[3].kind, Kind::kDelegateCall);
  EXPECT_EQ(trace_.records[4].kind, Kind::kScope);
  EXPECT_GE(trace_.records[4].end_ns, trace_.records[3].end_ns);
}

// Tests which values a method passes to a tracer that records values.

// Copies the elements of each value when it is recorded.
class ValueRecorder final : public ValueTracer {
 public:
  struct Taken {
    std::vector<float> elements;
    TracedValue source;
    size_t after_records;
  };

  explicit ValueRecorder(bool wanted) : wanted_(wanted) {}
  void begin_block(const char*) override {}
  void record(const TraceRecord&) override { ++records; }
  bool wants_values() const override { return wanted_; }
  void record_value(const TracedValue& value) override {
    Taken one{.elements = {}, .source = value, .after_records = records};
    const EValue& given = *value.value;
    if (given.is_tensor()) one.elements = test::values_of<float>(given.unchecked_tensor());
    if (given.is_int()) one.elements = {static_cast<float>(given.unchecked_int())};
    taken.push_back(one);
  }

  size_t records = 0;
  std::vector<Taken> taken;

 private:
  bool wanted_;
};

class MethodValuesTest : public TracedMethodTest {
 protected:
  // The method has five instructions: a kernel (out = 2x), a delegate (out = 3x), a kernel that
  // returns a number, a move, and a jump.
  MethodValuesTest() {
    build_scaling();
    const int rows = forward_.integer(0);
    forward_.delegate_call(delegate(3), {x_, out_});
    forward_.kernel_call(forward_.op("test::size", "int"), {x_, forward_.integer(0), rows});
    forward_.move(rows, forward_.integer(0));
    forward_.jump_false(forward_.boolean(true), 0);
  }
};

TEST_F(MethodValuesTest, InstructionResultsAreRecordedBeforeMethodOutputs) {
  ValueRecorder tracer(true);
  const auto method = load({.tracer = &tracer});
  tracer.records = 0;
  ASSERT_TRUE(execute(*method).ok());
  ASSERT_EQ(tracer.taken.size(), 5u);
  // `out` is written twice, so each value must be recorded before the next instruction.
  EXPECT_THAT(tracer.taken[0].elements, ElementsAre(2, 4, 6, 8, 10, 12));
  // The delegate does not report which arguments it writes, so its input is recorded too.
  EXPECT_THAT(tracer.taken[1].elements, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(tracer.taken[2].elements, ElementsAre(3, 6, 9, 12, 15, 18));
  EXPECT_THAT(tracer.taken[3].elements, ElementsAre(2));
  EXPECT_THAT(tracer.taken[4].elements, ElementsAre(3, 6, 9, 12, 15, 18));
  const std::vector<int32_t> instructions{0, 1, 1, 2, kUnsetInstructionId};
  for (size_t i = 0; i < tracer.taken.size(); ++i) {
    const TracedValue& source = tracer.taken[i].source;
    EXPECT_EQ(source.instruction_id, instructions[i]) << i;
    EXPECT_EQ(source.is_method_output, i == 4) << i;
    EXPECT_EQ(source.chain_index, i == 4 ? kUnsetChainIndex : 0) << i;
    EXPECT_EQ(source.delegate_debug_id, kUnsetDelegateDebugId) << i;
  }
  // The values of an instruction come after the records of the instruction. The kernel has one
  // record, and the delegate has two.
  EXPECT_EQ(tracer.taken[0].after_records, 1u);
  EXPECT_EQ(tracer.taken[1].after_records, 3u);
  EXPECT_EQ(tracer.taken[4].after_records, tracer.records);
}

TEST_F(MethodValuesTest, AreRecordedOnlyIfTheTracerRequestsThem) {
  ValueRecorder tracer(false);
  const auto method = load({.tracer = &tracer});
  ASSERT_TRUE(execute(*method).ok());
  EXPECT_TRUE(tracer.taken.empty());
}

TEST_F(MethodValuesTest, EarlierValuesAreRecordedIfExecutionFails) {
  forward_.op("test::fail", "out");
  forward_.chains[0][2] = {.kind = schema::program::InstructionArguments::KernelCall,
                           .first = 2,
                           .args = {x_, out_, out_}};
  ValueRecorder tracer(true);
  const auto method = load({.tracer = &tracer});
  EXPECT_FALSE(execute(*method).ok());
  EXPECT_EQ(tracer.taken.size(), 3u);
}

}  // namespace
}  // namespace vitrine
