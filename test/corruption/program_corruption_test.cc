// Damaged programs must execute or cause errors that name a location. Run this under
// AddressSanitizer and UndefinedBehaviorSanitizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ostream>
#include <string>

#include "backends/xnnpack/runtime/execution/xnnpack_backend.h"
#include "test/corruption/attempt.h"
#include "test/support/corpus.h"
#include "test/support/damaged_bytes.h"
#include "test/support/file_bytes.h"
#include "test/support/program_builder.h"
#include "test/support/test_backend.h"
#include "test/support/test_kernels.h"

namespace vitrine {
namespace {

using schema::program::DataLocation;
using schema::program::TensorShapeDynamism;
using test::AlignedBytes;
using test::attempt;
using test::MethodSpec;
using test::Outcome;
using test::Planned;
using test::ProgramBuilder;
using test::Stage;
using test::TensorSpec;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

// Returns a program with values and instructions of every kind, constants, state and a delegate.
AlignedBytes built_program(bool with_segments) {
  ProgramBuilder builder;
  builder.legacy_constants = !with_segments;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, 96};
  const auto f32 = [](uint64_t offset) {
    return TensorSpec{.sizes = {2, 3},
                      .planned = Planned{1, offset},
                      .dynamism = TensorShapeDynamism::DYNAMIC_BOUND};
  };
  const int x = forward.tensor(f32(0));
  const int out = forward.tensor(f32(32));
  TensorSpec state_spec = f32(64);
  if (with_segments) state_spec.data = builder.initial_state(test::Bytes(24));
  const int state = forward.tensor(state_spec);
  const int constant = forward.tensor({.sizes = {2, 3}, .data = builder.constant(test::Bytes(24))});
  const int given = forward.tensor({.sizes = {2, 3}});
  const int count = forward.integer(0);
  const int done = forward.boolean(false);
  const int two = forward.integer(2);
  const int one = forward.integer(1);
  forward.outputs = {out,
                     given,
                     forward.int_list({one, two}),
                     forward.double_list({1, 2}),
                     forward.bool_list({1, 0}),
                     forward.tensor_list({x, out}),
                     forward.optional_tensor_list({-1, x}),
                     forward.string("text"),
                     forward.none()};
  forward.inputs = {x, forward.real(1.5)};
  const int add = forward.op("test::add", "out");
  const auto location = with_segments ? DataLocation::SEGMENT : DataLocation::INLINE;
  const int delegate = forward.delegate({.id = "TestBackend",
                                         .location = location,
                                         .payload = test::multiply_by(3),
                                         .compile_specs = {{"key", test::bytes_of("value")}}});
  forward.move(two, count);
  forward.kernel_call(add, {x, constant, out, out});
  forward.kernel_call(add, {state, x, state, state});
  forward.delegate_call(delegate, {out, given});
  forward.kernel_call(forward.op("test::scale_scratch", "out"), {out, two, out, out});
  forward.kernel_call(forward.op("test::sub", "Scalar"), {count, one, count});
  forward.kernel_call(forward.op("test::less", "Scalar"), {count, one, done});
  forward.jump_false(done, 1);
  forward.free(x);
  return builder.build();
}

AlignedBytes sample() {
  return test::read_file_bytes(test::samples_dir() / "linear_relu/model.pte");
}

class CorruptionTest : public testing::Test {
 protected:
  CorruptionTest() {
    EXPECT_TRUE(backends_.add(&backend_).ok());
    EXPECT_TRUE(backends_.add(&xnnpack_backend()).ok());
  }

  Outcome try_file(const AlignedBytes& file) const {
    return attempt(file, test::test_kernels(), backends_);
  }

  void expect_success(const AlignedBytes& file) const {
    const Outcome outcome = try_file(file);
    EXPECT_EQ(outcome.stage, Stage::kDone) << outcome.message;
  }

  void expect_truncation_errors(const AlignedBytes& file) const {
    test::for_each_truncation(file, [&](const AlignedBytes& bytes, const auto& damage) {
      const Outcome outcome = try_file(bytes);
      ASSERT_EQ(outcome.stage, Stage::kProgramLoad) << damage;
      ASSERT_NE(outcome.message, "") << damage;
    });
  }

  // Flips each byte in several ways. Expects success or an error that names a location.
  void expect_flips_to_be_harmless(const AlignedBytes& original_file) const {
    std::array<size_t, 5> outcomes{};
    test::for_each_changed_byte(original_file, [&](const AlignedBytes& file, const auto& damage) {
      const Outcome outcome = try_file(file);
      ++outcomes[static_cast<size_t>(outcome.stage)];
      if (outcome.stage == Stage::kDone) return;
      ASSERT_THAT(outcome.message,
                  AnyOf(HasSubstr("["), HasSubstr("byte"), HasSubstr("header"),
                        HasSubstr("flatbuffer"), HasSubstr("segment"), HasSubstr("chain "),
                        HasSubstr("input "), HasSubstr("output "), HasSubstr("execution_plan"),
                        HasSubstr("lacks"), HasSubstr("version:")))
          << damage;
    });
    // Some flips must be detected when the program loads, and some when the method loads. Some
    // flipped programs must execute.
    for (const Stage stage : {Stage::kProgramLoad, Stage::kMethodLoad, Stage::kDone}) {
      EXPECT_GT(outcomes[static_cast<size_t>(stage)], 0u) << static_cast<int>(stage);
    }
  }

  test::TestBackend backend_;
  BackendRegistry backends_;
};

struct ProgramFile {
  const char* name;
  AlignedBytes (*make)();
  // GoogleTest shows the name of the program as the test parameter.
  friend std::ostream& operator<<(std::ostream& out, const ProgramFile& f) { return out << f.name; }
};

class ProgramCorruption : public CorruptionTest, public testing::WithParamInterface<ProgramFile> {};

TEST_P(ProgramCorruption, AcceptsValidProgramAndRejectsTruncatedProgram) {
  expect_success(GetParam().make());
  expect_truncation_errors(GetParam().make());
}

TEST_P(ProgramCorruption, SurvivesFlippedBytes) { expect_flips_to_be_harmless(GetParam().make()); }

INSTANTIATE_TEST_SUITE_P(
    Programs, ProgramCorruption,
    testing::Values(ProgramFile{"WithSegments", [] { return built_program(true); }},
                    ProgramFile{"Flatbuffer", [] { return built_program(false); }},
                    ProgramFile{"Delegated", sample}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(CorruptionTest, SurvivesSeveralChangedBytes) {
  constexpr size_t kHeader = 64;
  const auto check = [&](const AlignedBytes& file, const auto& damage) {
    const Outcome outcome = try_file(file);
    ASSERT_EQ(outcome.message.empty(), outcome.stage == Stage::kDone) << damage;
  };
  test::for_each_random_damage(built_program(true), 20000, check, kHeader);
}

// Overwrites the first occurrence of `from` in the file.
AlignedBytes replace(AlignedBytes file, const std::string& from, const std::string& to) {
  const test::Bytes pattern = test::bytes_of(from);
  const auto found = std::search(file.begin(), file.end(), pattern.begin(), pattern.end());
  if (found == file.end()) {
    ADD_FAILURE() << from << " is not in the file";
    return file;
  }
  std::memcpy(&*found, to.data(), to.size());
  return file;
}

TEST_F(CorruptionTest, ErrorNamesUnknownBackends) {
  const Outcome outcome = try_file(replace(sample(), "XnnpackBackend", "XnnpackBackenD"));
  EXPECT_EQ(outcome.stage, Stage::kMethodLoad);
  EXPECT_THAT(outcome.message, HasSubstr("lacks the backends XnnpackBackenD"));
}

TEST_F(CorruptionTest, RejectsPayloadsOfOtherBackends) {
  for (const auto& [from, to] : {std::pair{"XH00", "XH99"}, {"XN0", "YN0"}}) {
    const Outcome outcome = try_file(replace(sample(), from, to));
    EXPECT_EQ(outcome.stage, Stage::kMethodLoad) << to;
    EXPECT_THAT(outcome.message, HasSubstr("forward, delegates[0] (XnnpackBackend): ")) << to;
  }
  const Outcome swapped = try_file(replace(built_program(false), "TB", "XY"));
  EXPECT_EQ(swapped.stage, Stage::kMethodLoad);
  EXPECT_THAT(swapped.message, AllOf(HasSubstr("forward, delegates[0] (TestBackend): byte 0")));
}

}  // namespace
}  // namespace vitrine
