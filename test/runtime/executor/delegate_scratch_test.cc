// Tests the scratch memory of delegate calls (DelegateCall.scratch in programs of ExecuTorch 1.6).
#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::Planned;
using test::ScratchSpec;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// A delegate doubles `input`, which is at byte 0 of memory 1. Memory 1 has 256 bytes.
class DelegateScratchTest : public test::PlanTest {
 protected:
  void build(std::vector<ScratchSpec> scratch, uint64_t output = 32) {
    x_ = input(0);
    out_ = at(output);
    call_delegate(x_, out_, std::move(scratch));
    forward_.outputs = {out_};
  }
  void call_delegate(int32_t from, int32_t to, std::vector<ScratchSpec> scratch = {}) {
    forward_.delegate_call(delegate(2, {{"inputs", {std::byte{1}}}}), {from, to},
                           std::move(scratch));
  }
  std::string refusal() {
    const Error error = try_load(options()).take_error();
    EXPECT_TRUE(error.ok() || error.code() == ErrorCode::kInvalidProgram);
    return error.message();
  }
  static ScratchSpec scratch(uint64_t offset, uint64_t size) {
    return {.planned = Planned{1, offset}, .size = size};
  }
};

TEST_F(DelegateScratchTest, ScratchHasThePlannedAddressInEachCall) {
  build({scratch(64, 20), scratch(48, 16), scratch(96, 0)});
  alignas(16) std::array<std::byte, 256> memory{};
  const std::array buffers{std::span<std::byte>(memory)};
  const auto method = load({.planned_memory = buffers, .check_plan = &refuse_overlaps});
  for (const float number : {1.F, 3.F}) {
    EXPECT_THAT(run(*method, value({4}, {number, 0, 0, 5})), ElementsAre(2 * number, 0, 0, 10));
  }
  ASSERT_THAT(backend_.scratch(), SizeIs(2));
  for (const auto& spans : backend_.scratch()) {
    ASSERT_THAT(spans, SizeIs(3));
    EXPECT_EQ(spans[0].data(), memory.data() + 64);
    EXPECT_EQ(spans[1].data(), memory.data() + 48);
    EXPECT_THAT(spans, ElementsAre(SizeIs(20), SizeIs(16), SizeIs(0)));
  }
}

TEST_F(DelegateScratchTest, MayUseTheMemoryOfValuesThatAreNoLongerNeeded) {
  const int32_t x = input(0);
  const int32_t dead = at(64);
  const int32_t kept = at(16);
  scale(x, dead);
  scale(dead, kept);
  const int32_t out = at(32);
  call_delegate(kept, out, {scratch(64, 16)});
  call_delegate(out, kept, {scratch(64, 16)});
  forward_.outputs = {kept};
  EXPECT_EQ(refusal(), "");
}

TEST_F(DelegateScratchTest, RejectsOverlapsWithArguments) {
  build({scratch(8, 16)});
  EXPECT_THAT(refusal(), HasSubstr("needs values[0] (bytes 0 to 16 of memory 1) as written by "
                                   "inputs[0], but chains[0].instructions[0] (TestBackend) has "
                                   "overwritten it with scratch[0] (bytes 8 to 24 of memory 1)"));
  start_over();
  forward_.buffer_sizes = {0, 256};
  build({scratch(40, 16)});
  EXPECT_THAT(refusal(), HasSubstr("needs scratch[0] (bytes 40 to 56 of memory 1) as written by "
                                   "chains[0].instructions[0] (TestBackend), but "
                                   "chains[0].instructions[0] (TestBackend) has overwritten it "
                                   "with values[1]"));
}

TEST_F(DelegateScratchTest, RejectsOverlapsWithValuesThatAreStillNeeded) {
  const int32_t x = input(0);
  const int32_t needed = at(64);
  const int32_t out = at(16);
  const int32_t sum = at(32);
  scale(x, needed);
  call_delegate(x, out, {scratch(112, 16), scratch(60, 8)});
  add(needed, out, sum);
  forward_.outputs = {sum};
  EXPECT_THAT(refusal(), HasSubstr("has overwritten it with scratch[1] (bytes 60 to 68"));
}

TEST_F(DelegateScratchTest, RejectsOverlappingScratchOfOneCall) {
  build({scratch(64, 32), scratch(80, 32)});
  EXPECT_THAT(refusal(), HasSubstr("needs scratch[0] (bytes 64 to 96"));
}

TEST_F(DelegateScratchTest, OverwrittenInputsMustBeSetAgain) {
  const int32_t x = input(0);
  const int32_t y = at(64);
  const int32_t out = at(32);
  scale(x, y);
  call_delegate(y, out, {scratch(0, 16)});
  forward_.outputs = {out};
  const auto method = load(options());
  EXPECT_THAT(run(*method, value({4}, {1, 2, 3, 4})), ElementsAre(4, 8, 12, 16));
  EXPECT_EQ(method->execute().code(), ErrorCode::kInvalidState);
}

TEST_F(DelegateScratchTest, RejectsScratchOutsideOfTheBuffer) {
  const auto damaged = [this](ScratchSpec spec) {
    start_over();
    forward_.buffer_sizes = {0, 256};
    build({scratch(64, 16), spec});
    const test::AlignedBytes file = builder_.build();
    return std::string(Program::load(*view_buffer(file)).take_error().message());
  };
  EXPECT_THAT(damaged({.size = 16}), HasSubstr("scratch[1].allocation: is missing"));
  EXPECT_THAT(damaged(scratch(250, 7)), HasSubstr("7 bytes at 250 exceed buffer 1 of 256 bytes"));
  EXPECT_THAT(damaged(scratch(16, UINT64_MAX)), HasSubstr("exceed buffer 1"));
  EXPECT_THAT(damaged({.planned = Planned{0, 0}, .size = 1}), HasSubstr("memory_id"));
  EXPECT_THAT(damaged({.planned = Planned{2, 0}, .size = 1}), HasSubstr("memory_id"));
}

// Tests warnings about outputs that nothing writes.

class UnwrittenOutputsTest : public test::PlanTest {
 protected:
  // Adds a call of a delegate that has one input and does not report argument 2 as an output.
  void delegate_call(std::vector<int32_t> args) {
    const int lossy = delegate(2, {{"inputs", {std::byte{1}}}, {"lost", {std::byte{2}}}});
    forward_.delegate_call(lossy, std::move(args));
  }
  // Returns the error or the warning of loading the method, or an empty string if it loads without
  // a warning.
  std::string refusal() {
    const auto method = try_load();
    if (method.ok()) return (*method)->warning().message();
    EXPECT_EQ(method.error().code(), ErrorCode::kInvalidProgram);
    return method.error().message();
  }

  const int32_t x_ = input(0);
  const int32_t first_ = at(16);
  const int32_t second_ = at(32);
};

TEST_F(UnwrittenOutputsTest, RefusesAnOutputThatNoInstructionWrites) {
  scale(x_, first_);
  forward_.outputs = {first_, second_};
  EXPECT_THAT(refusal(), HasSubstr("forward, outputs[1]: no instruction writes it"));
  forward_.chains[0].clear();
  add(x_, first_, second_);
  forward_.outputs = {second_, first_};
  EXPECT_THAT(refusal(), HasSubstr("outputs[1]: no instruction writes it")) << "it is only read";
}

TEST_F(UnwrittenOutputsTest, ErrorAndWarningNameTheOutputThatThePayloadLacks) {
  delegate_call({x_, first_, second_});
  forward_.outputs = {first_, second_};
  EXPECT_THAT(refusal(),
              HasSubstr("outputs[1]: no instruction writes it; a delegate (TestBackend) gets it "
                        "as argument 2, but the payload does not define that output"));
  const auto method = load({.accept_unwritten_outputs = true});
  EXPECT_THAT(method->warning().message(), HasSubstr("outputs[1]: no instruction writes it"));
}

// An unwritten result is harmless if no instruction reads it and it is not an output of the method.
TEST_F(UnwrittenOutputsTest, RefusesAMissingDelegateResultOnlyIfAnotherStepReadsIt) {
  delegate_call({x_, first_, second_});
  forward_.outputs = {first_};
  EXPECT_EQ(refusal(), "");
  const int32_t sum = at(48);
  add(first_, second_, sum);
  forward_.outputs = {sum};
  EXPECT_THAT(refusal(), HasSubstr(": no instruction writes it; a delegate (TestBackend)"));
}

// `lost` has the same memory as `second_`. The delegate does not write `lost`, so this output would
// show the elements of `second_`.
TEST_F(UnwrittenOutputsTest, RefusesAnUnwrittenOutputThatSharesMemory) {
  scale(x_, second_);
  scale(second_, first_);
  const int32_t result = at(48);
  const int32_t lost = at(32);
  delegate_call({first_, result, lost});
  forward_.outputs = {result, lost};
  EXPECT_THAT(refusal(), HasSubstr("outputs[1]: no instruction writes it; a delegate"));
}

TEST_F(UnwrittenOutputsTest, AcceptsInputsConstantsStatesAndViews) {
  const int32_t y = at(16, 8);
  const int32_t view = at(32);  // the second half of y
  const int32_t constant = forward_.tensor(
      {.sizes = {4}, .data = builder_.constant(test::bytes_of(std::vector<float>{1, 2, 3, 4}))});
  const int32_t state = forward_.tensor(
      {.sizes = {4},
       .planned = Planned{1, 64},
       .data = builder_.initial_state(test::bytes_of(std::vector<float>{1, 2, 3, 4}))});
  const int32_t empty = at(80, 0);
  scale(x_, y);
  forward_.outputs = {x_, y, view, constant, state, empty, forward_.integer(3)};
  EXPECT_EQ(refusal(), "");
}

}  // namespace
}  // namespace vitrine
