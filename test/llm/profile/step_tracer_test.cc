#include "llm/profile/step_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace vitrine::llm {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

auto all_of(const TraceRecord& r) {
  return std::tuple(r.start_ns, r.end_ns, r.name, r.metadata, r.metadata_size, r.chain_index,
                    r.instruction_id, r.delegate_debug_id, r.kind);
}
auto all_of(const StepSums& s) {
  return std::tuple(s.calls, s.total_ns, s.usual_ns, s.position_ns);
}
template <class T>
auto all_of(const std::vector<T>& list) {
  std::vector<decltype(all_of(list[0]))> result;
  for (const T& each : list) result.push_back(all_of(each));
  return result;
}

// A delegate of three operators, two of which have one identifier.
const TracedOperator kOperators[] = {{"Product", 7, 12}, {"Copy", 4}, {"Product", 7, 12}};

class Delegate {
 public:
  explicit Delegate(bool at_once) : at_once_(at_once) {}

  void run(StepTracer& tracer, int32_t instruction, uint64_t start_ns, size_t count = 3) const {
    std::vector<uint64_t> ends(count);
    for (size_t i = 0; i < count; ++i) ends[i] = start_ns + (i + 1) * (10 + start_ns % 7);
    const TracedOperators all = {std::span(kOperators).first(count), ends, start_ns, 0,
                                 instruction};
    if (at_once_) {
      tracer.record_operators(all);
    } else {
      tracer.EventTracer::record_operators(all);
    }
    tracer.record({.start_ns = start_ns - 1,
                   .end_ns = ends.back() + 1,
                   .name = "Backend",
                   .chain_index = 0,
                   .instruction_id = instruction,
                   .kind = TraceRecord::Kind::kDelegateCall});
  }

 private:
  bool at_once_;
};

// Steps of an execution that calls the delegate in two places, in the second of them twice, as a
// loop does.
void run_steps(StepTracer& tracer, const Delegate& delegate) {
  tracer.begin_block("Execute");
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t start = 1000 + 1000 * i;
    tracer.begin_step(i == 0 ? Phase::kPrefill : Phase::kDecode);
    delegate.run(tracer, 1, start + 2);
    tracer.record({.start_ns = start + 90,
                   .end_ns = start + 95 + i,
                   .name = "aten::add.out",
                   .chain_index = 0,
                   .instruction_id = 2,
                   .kind = TraceRecord::Kind::kKernelCall});
    for (const uint64_t at : {120, 220}) delegate.run(tracer, 3, start + at);
    tracer.record({.start_ns = start, .end_ns = start + 400 + i, .name = "Method::execute"});
    EXPECT_EQ(tracer.executed_ns(), 400 + i);
    GenerationStep step;
    step.start_ns = start;
    step.end_ns = start + 500;
    tracer.end_step(step, {}, i, i % 5 != 0);
  }
}

TEST(StepTracer, SumsOperatorsLoggedAtOnceAsOneByOne) {
  StepTracer at_once, one_by_one;
  run_steps(at_once, Delegate(true));
  run_steps(one_by_one, Delegate(false));
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_EQ(all_of(at_once.phase(phase).records), all_of(one_by_one.phase(phase).records));
    EXPECT_EQ(all_of(at_once.phase(phase).sums), all_of(one_by_one.phase(phase).sums));
  }
  const std::vector<StepSums>& sums = at_once.phase(Phase::kDecode).sums;
  ASSERT_THAT(sums, SizeIs(3 + 1 + 1 + 3 + 1 + 1));  // operators, call, kernel, the same, execution
  EXPECT_EQ(sums[0].calls, 19);
  EXPECT_EQ(sums[5].calls, 38);
  const auto kept = at_once.kept();
  const auto same = one_by_one.kept();
  ASSERT_EQ(kept.size(), same.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(all_of(kept[i]->records), all_of(same[i]->records));
    EXPECT_THAT(kept[i]->records, SizeIs(4 + 1 + 8 + 1));
  }
}

TEST(StepTracer, TakesAListThatHasBecomeShorter) {
  StepTracer tracer;
  const Delegate delegate(true);
  tracer.begin_block("Execute");
  for (const size_t count : {3, 2, 3, 1}) {
    tracer.begin_step(Phase::kDecode);
    delegate.run(tracer, 1, 1000, count);
    tracer.end_step({}, {}, 0, true);
  }
  // Three at once twice; two and one by themselves.
  std::vector<uint64_t> calls;
  for (const StepSums& each : tracer.phase(Phase::kDecode).sums) calls.push_back(each.calls);
  EXPECT_THAT(calls, ElementsAre(2, 2, 2, 4, 2, 1));
}

TEST(StepTracer, CountsWhatDoesNotFit) {
  StepTracer tracer;
  const Delegate delegate(true);
  tracer.begin_block("Execute");
  for (int step = 0; step < 2; ++step) {
    tracer.begin_step(Phase::kDecode);
    // Four records a call. Lists without operators leave nothing.
    for (size_t i = 0; i < StepTracer::kRecordsAStep / 4 + 5; ++i) {
      delegate.run(tracer, 1, 1000);
      tracer.record_operators({});
    }
    tracer.record({.start_ns = 0, .end_ns = 9, .name = "Method::execute"});
    tracer.end_step({}, {}, 0, true);
  }
  EXPECT_EQ(tracer.dropped(), 2 * 5 * 4);
  EXPECT_EQ(tracer.executed_ns(), 9);
  uint64_t calls = 0;
  for (const StepSums& each : tracer.phase(Phase::kDecode).sums) calls += each.calls;
  EXPECT_EQ(calls, 2 * (StepTracer::kRecordsAStep + 1));
}

TEST(StepTracer, LeavesOutWhatIsLoggedBetweenSteps) {
  StepTracer tracer;
  const Delegate delegate(true);
  delegate.run(tracer, 1, 1000);  // loading
  EXPECT_THAT(tracer.loading(), SizeIs(4));
  tracer.begin_block("Execute");
  delegate.run(tracer, 1, 1000);
  EXPECT_THAT(tracer.loading(), SizeIs(4));
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_THAT(tracer.phase(phase).records, SizeIs(0));
  }
}

}  // namespace
}  // namespace vitrine::llm
