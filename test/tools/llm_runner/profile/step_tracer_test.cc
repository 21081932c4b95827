#include "tools/llm_runner/profile/step_tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "test/llm/lowered_models.h"
#include "test/support/program_builder.h"
#include "test/support/wide_decoder.h"
#include "tools/llm_runner/profile/method_bytes.h"

namespace vitrine::llm {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

auto all_of(const TraceRecord& r) {
  return std::tuple(r.start_ns, r.end_ns, r.name, r.metadata, r.metadata_size, r.chain_index,
                    r.instruction_id, r.delegate_debug_id, r.kind);
}
auto all_of(const StepSums& s) {
  return std::tuple(s.calls, s.total_ns, s.usual_ns, s.position_ns, s.squares_ns);
}
template <class T>
auto all_of(const std::vector<T>& list) {
  std::vector<decltype(all_of(list[0]))> result;
  for (const T& item : list) result.push_back(all_of(item));
  return result;
}

// The operators of a delegate. Two of them have the same identifier.
const TracedOperator kOperators[] = {{"Product", 7, 12}, {"Copy", 4}, {"Product", 7, 12}};

class LoggingDelegate {
 public:
  explicit LoggingDelegate(bool at_once) : at_once_(at_once) {}

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

// Runs 20 steps. In each step, instruction 1 calls the delegate once, and instruction 3 calls it
// twice, as in a loop.
void run_steps(StepTracer& tracer, const LoggingDelegate& delegate) {
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

TEST(StepTracer, OperatorsLoggedTogetherMatchOperatorsLoggedOneByOne) {
  StepTracer at_once, one_by_one;
  run_steps(at_once, LoggingDelegate(true));
  run_steps(one_by_one, LoggingDelegate(false));
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_EQ(all_of(at_once.phase(phase).records), all_of(one_by_one.phase(phase).records));
    EXPECT_EQ(all_of(at_once.phase(phase).sums), all_of(one_by_one.phase(phase).sums));
  }
  const std::vector<StepSums>& sums = at_once.phase(Phase::kDecode).sums;
  ASSERT_THAT(sums,
              SizeIs(3 + 1 + 1 + 3 + 1 + 1));  // operators, call, kernel, operators, call, execute
  EXPECT_EQ(sums[0].calls, 19);
  EXPECT_EQ(sums[5].calls, 38);
  // Instruction 3 runs this operator twice in each step. The tracer squares the sum of the two
  // times.
  double squares = 0;
  for (uint64_t i = 1; i < 20; ++i) {
    const auto ns = static_cast<double>(20 + (1120 + 1000 * i) % 7 + (1220 + 1000 * i) % 7);
    if (i % 5 != 0) squares += ns * ns;
  }
  EXPECT_EQ(sums[5].squares_ns, squares);
  const auto kept = at_once.kept();
  const auto same = one_by_one.kept();
  ASSERT_EQ(kept.size(), same.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(all_of(kept[i]->records), all_of(same[i]->records));
    EXPECT_THAT(kept[i]->records, SizeIs(4 + 1 + 8 + 1));
  }
}

TEST(StepTracer, AcceptsShorterListOfOperators) {
  StepTracer tracer;
  const LoggingDelegate delegate(true);
  tracer.begin_block("Execute");
  for (const size_t count : {3, 2, 3, 1}) {
    tracer.begin_step(Phase::kDecode);
    delegate.run(tracer, 1, 1000, count);
    tracer.end_step({}, {}, 0, true);
  }
  // The tracer records each list of three operators as a group. It records the operators of shorter
  // lists separately.
  std::vector<uint64_t> calls;
  for (const StepSums& sums : tracer.phase(Phase::kDecode).sums) calls.push_back(sums.calls);
  EXPECT_THAT(calls, ElementsAre(2, 2, 2, 4, 2, 1));
}

TEST(StepTracer, CountsRecordsAboveTheLimit) {
  StepTracer tracer;
  const LoggingDelegate delegate(true);
  tracer.begin_block("Execute");
  for (int step = 0; step < 2; ++step) {
    tracer.begin_step(Phase::kDecode);
    // Each run logs four records. An empty list of operators logs nothing.
    for (size_t i = 0; i < StepTracer::kMaxRecordsPerStep / 4 + 5; ++i) {
      delegate.run(tracer, 1, 1000);
      tracer.record_operators({});
    }
    tracer.record({.start_ns = 0, .end_ns = 9, .name = "Method::execute"});
    tracer.end_step({}, {}, 0, true);
  }
  EXPECT_EQ(tracer.dropped(), 2 * 5 * 4);
  EXPECT_EQ(tracer.executed_ns(), 9);
  uint64_t calls = 0;
  for (const StepSums& sums : tracer.phase(Phase::kDecode).sums) calls += sums.calls;
  EXPECT_EQ(calls, 2 * (StepTracer::kMaxRecordsPerStep + 1));
}

TEST(StepTracer, IgnoresRecordsBetweenSteps) {
  StepTracer tracer;
  const LoggingDelegate delegate(true);
  delegate.run(tracer, 1, 1000);  // loading
  EXPECT_THAT(tracer.loading(), SizeIs(4));
  tracer.begin_block("Execute");
  delegate.run(tracer, 1, 1000);
  EXPECT_THAT(tracer.loading(), SizeIs(4));
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    EXPECT_THAT(tracer.phase(phase).records, SizeIs(0));
  }
}

TEST(MethodBytes, CountsWeightsWhoseScalesAreOutsideOfThePayload) {
  const test::AlignedBytes file = test::wide_decoder();
  const auto program = test::load_program(file);
  const MethodMeta method = *program->method_meta("forward");

  const std::vector<MethodBytes> bytes = read_method_bytes(*program, {{method}});
  double found = 0;
  for (const auto& [node, node_weights] : bytes[0].nodes) {
    for (const double weights : node_weights) found += weights;
  }
  // Each weight element has 4 bits, and each group of 32 elements has a 16-bit scale. Keys and
  // values are half as wide as queries.
  EXPECT_NEAR(found, test::kWideDecoderWeights * (0.5 + 2.0 / 32), test::kWideDecoderWeights / 100);
}

// Returns the numbers of bytes that one call of the attention operator `name` reads or writes. The
// caches of keys and values are f32[1, length, 1, 4]. If the operator only reads the caches, the
// program writes them with llama::update_cache.
KernelBytes attention_bytes(const std::string& name, bool has_mask, int32_t length) {
  test::ProgramBuilder builder;
  test::MethodSpec& forward = builder.method("forward");
  const int64_t cache_bytes = int64_t{length} * 4 * 4;
  forward.buffer_sizes = {0, 2 * cache_bytes + 1024};
  const auto planned = [](int64_t offset) {
    return test::Planned{1, static_cast<uint64_t>(offset)};
  };
  const int keys = forward.tensor({.sizes = {1, length, 1, 4}, .planned = planned(0)});
  const int values = forward.tensor({.sizes = {1, length, 1, 4}, .planned = planned(cache_bytes)});
  const int row = forward.tensor({.sizes = {1, 1, 1, 4}, .planned = planned(2 * cache_bytes)});
  const int out = forward.tensor({.sizes = {1, 1, 1, 4}, .planned = planned(2 * cache_bytes + 64)});
  const int position = forward.integer(0);
  const int none = forward.none();
  const int mask = has_mask ? forward.tensor({.sizes = {1, length}}) : none;
  forward.inputs = {row};
  if (has_mask) forward.inputs.push_back(mask);
  forward.outputs = {out};
  const int no = forward.boolean(false), zero = forward.real(0);
  int32_t instruction = 0;
  if (name == "llama::sdpa_with_kv_cache") {
    forward.kernel_call(forward.op(name, "out"),
                        {row, row, row, keys, values, position, forward.integer(1), mask, zero, no,
                         none, out, out});
  } else {
    const int update = forward.op("llama::update_cache", "out");
    for (const int cache : {keys, values}) {
      forward.kernel_call(update, {row, cache, position, out, out});
    }
    instruction = 2;
    forward.kernel_call(forward.op(name, "out"),
                        {row, keys, values, position, mask, zero, no, none, out, out});
  }
  const test::AlignedBytes file = builder.build();
  const auto program = test::load_program(file);
  return read_method_bytes(*program, {{*program->method_meta("forward")}})[0].kernels.at(
      instruction);
}

// With a mask, attention reads all positions of the cache. Without a mask, it reads only the
// positions up to the current one.
TEST(MethodBytes, MaskedAttentionCountsAllPositions) {
  for (const char* name :
       {"llama::custom_sdpa", "llama::custom_quantized_sdpa", "llama::sdpa_with_kv_cache"}) {
    SCOPED_TRACE(name);
    for (const int32_t length : {8, 32}) {
      const KernelBytes causal = attention_bytes(name, false, length);
      EXPECT_EQ(causal.cache, 0);
      EXPECT_EQ(causal.cache_per_position, 2 * 4 * 4);
      const KernelBytes masked = attention_bytes(name, true, length);
      EXPECT_EQ(masked.cache, length * 2 * 4 * 4);
      EXPECT_EQ(masked.cache_per_position, 0);
      EXPECT_TRUE(masked.is_attention);
    }
  }
}

}  // namespace
}  // namespace vitrine::llm
