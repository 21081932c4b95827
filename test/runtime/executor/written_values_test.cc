// Tests warnings about outputs that nothing writes.
#include "test/runtime/executor/plan_fixture.h"

namespace vitrine {
namespace {

using test::Planned;
using testing::HasSubstr;

class UnwrittenOutputsTest : public test::PlanTest {
 protected:
  // Adds a call of a delegate that has `num_inputs` inputs and does not report argument 2 as an
  // output.
  void delegate_call(uint8_t num_inputs, std::vector<int32_t> args) {
    const int delegate = forward_.delegate(
        {.id = "TestBackend",
         .payload = test::multiply_by(2),
         .compile_specs = {{"inputs", {std::byte{num_inputs}}}, {"lost", {std::byte{2}}}}});
    forward_.delegate_call(delegate, std::move(args));
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

TEST_F(UnwrittenOutputsTest, RefusesAnOutputThatNoInstructionUses) {
  scale(x_, first_);
  forward_.outputs = {first_, second_};
  EXPECT_THAT(refusal(), HasSubstr("forward, outputs[1]: no instruction writes it"));
}

TEST_F(UnwrittenOutputsTest, RefusesAnOutputThatIsOnlyRead) {
  add(x_, first_, second_);
  forward_.outputs = {second_, first_};
  EXPECT_THAT(refusal(), HasSubstr("outputs[1]: no instruction writes it"));
}

TEST_F(UnwrittenOutputsTest, ErrorOrWarningNamesTheDelegateArgumentThatThePayloadLacks) {
  delegate_call(1, {x_, first_, second_});
  forward_.outputs = {first_, second_};
  EXPECT_THAT(refusal(),
              HasSubstr("outputs[1]: no instruction writes it; a delegate (TestBackend) is called "
                        "with it as argument 2, but the payload does not define that output"));
  const auto method = load({.accept_unwritten_outputs = true});
  EXPECT_THAT(method->warning().message(), HasSubstr("outputs[1]: no instruction writes it"));
}

// If nothing reads the result that the delegate does not write, no output can change.
TEST_F(UnwrittenOutputsTest, RefusesAMissingDelegateResultOnlyIfAnotherStepReadsIt) {
  delegate_call(1, {x_, first_, second_});
  forward_.outputs = {first_};
  EXPECT_EQ(refusal(), "");
  const int32_t sum = at(48);
  add(first_, second_, sum);
  forward_.outputs = {sum};
  EXPECT_THAT(refusal(), HasSubstr(": no instruction writes it; a delegate (TestBackend)"));
}

// If a delegate does not write an output, the output may show an older value in the same memory.
TEST_F(UnwrittenOutputsTest, RefusesAnUnwrittenOutputThatSharesMemory) {
  scale(x_, second_);
  scale(second_, first_);
  const int32_t result = at(48);
  const int32_t lost = at(32);
  delegate_call(1, {first_, result, lost});
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
