// Tests hostile programs whose outputs have no memory or need too much memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "vitrine.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using test::AlignedBytes;
using test::MethodSpec;
using test::Planned;
using test::ProgramBuilder;
using testing::HasSubstr;

constexpr int32_t kBytes = 1 << 20;

// A program whose outputs are all the same tensor of kBytes bytes.
AlignedBytes program_of_outputs(std::vector<int32_t> (*list)(int), bool is_planned) {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  test::TensorSpec output{.dtype = ScalarType::kByte, .sizes = {kBytes}};
  if (is_planned) {
    method.buffer_sizes = {0, kBytes};
    output.planned = Planned{1, 0};
  }
  method.outputs = list(method.tensor(output));
  return builder.build();
}
std::vector<int32_t> once(int value) { return {value}; }
std::vector<int32_t> ten_times(int value) { return std::vector<int32_t>(10, value); }

Result<Module> load(const AlignedBytes& file, uint64_t max_memory_bytes) {
  return Module::load(file, {.threads = 1,
                             .accept_unwritten_outputs = true,
                             .limits = {.max_memory_bytes = max_memory_bytes}});
}

// Returns the error of a call, which must be the same in C++ and in C.
std::string refusal(const AlignedBytes& file, uint64_t max_memory_bytes, ErrorCode code) {
  auto module = load(file, max_memory_bytes);
  EXPECT_TRUE(module.ok()) << module.error().message();
  const auto outputs = module->forward({});
  EXPECT_FALSE(outputs.ok());
  if (outputs.ok()) return "";
  EXPECT_EQ(outputs.error().code(), code);
  const std::string message = outputs.error().message();

  vitrine_module* in_c = nullptr;
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  options.max_memory_bytes = max_memory_bytes;
  options.accept_unwritten_outputs = 1;
  EXPECT_EQ(vitrine_module_load_memory(file.data(), file.size(), &options, &in_c), nullptr);
  std::vector<vitrine_value> values(module->method_meta("forward")->num_outputs());
  vitrine_error* error =
      vitrine_module_call(in_c, "forward", nullptr, 0, values.data(), values.size());
  EXPECT_EQ(vitrine_error_code(error), static_cast<uint32_t>(code));
  EXPECT_EQ(vitrine_error_message(error), message);
  vitrine_error_free(error);
  vitrine_module_free(in_c);
  return message;
}

AlignedBytes program_without_memory(bool is_planned) {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 256};
  const int nothing = method.tensor({.sizes = {64}});
  const int planned = method.tensor({.sizes = {64}, .planned = Planned{1, 0}});
  const int output = is_planned ? planned : method.tensor({.sizes = {64}});
  method.outputs = {output};
  method.move(nothing, output);
  return builder.build();
}

TEST(ModuleOutputs, AreRejectedIfTheyHaveNoMemory) {
  EXPECT_EQ(refusal(program_without_memory(true), 0, ErrorCode::kInvalidState),
            "forward: output 0: the tensor has no memory");
  EXPECT_EQ(refusal(program_without_memory(false), 0, ErrorCode::kInvalidProgram),
            "the result has no memory, or its dim order differs from the output's");
}

TEST(ModuleOutputs, NeedNoMemoryIfEmpty) {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  const int nothing = method.tensor({.sizes = {0}});
  const int output = method.tensor({.sizes = {0}});
  method.outputs = {output};
  method.move(nothing, output);
  const AlignedBytes file = builder.build();
  const auto outputs = test::require(load(file, 0)->forward({}));
  EXPECT_EQ(outputs.at(0).array()->numel(), 0);
}

TEST(ModuleOutputs, UnplannedOutputsCountTowardTheMemoryBudget) {
  constexpr uint64_t kEnough = kBytes + 100'000;
  EXPECT_THAT(refusal(program_of_outputs(once, false), kBytes, ErrorCode::kMemoryAllocationFailed),
              HasSubstr("of the 1048576 bytes that max_memory_bytes allows"));
  const AlignedBytes file = program_of_outputs(once, false);
  auto module = load(file, kEnough);
  const auto outputs = test::require(module->forward({}));
  for (const std::byte byte : outputs.at(0).array()->bytes()) ASSERT_EQ(byte, std::byte{});
  EXPECT_GE(module->memory_usage().taken, uint64_t{kBytes});
}

TEST(ModuleOutputs, UnplannedOutputsAreAllocatedOnce) {
  const AlignedBytes file = program_of_outputs(ten_times, false);
  auto module = load(file, uint64_t{20} * kBytes);
  const auto outputs = test::require(module->forward({}));
  EXPECT_GE(module->memory_usage().taken, uint64_t{kBytes});
  EXPECT_LT(module->memory_usage().taken, uint64_t{2} * kBytes);
}

TEST(ModuleOutputs, AreLimitedInTotalSize) {
  const AlignedBytes file = program_of_outputs(ten_times, true);
  EXPECT_EQ(refusal(file, 10 * kBytes - 1, ErrorCode::kMemoryAllocationFailed),
            "forward: the outputs need more than the 10485759 bytes that max_memory_bytes allows");
  const auto outputs = test::require(load(file, 10 * kBytes)->forward({}));
  EXPECT_EQ(outputs.size(), 10u);
}

TEST(ModuleOutputs, SizeLimitIncludesStrings) {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.outputs = ten_times(method.string(std::string(100'000, 'a')));
  EXPECT_EQ(refusal(builder.build(), 999'999, ErrorCode::kMemoryAllocationFailed),
            "forward: the outputs need more than the 999999 bytes that max_memory_bytes allows");
}

}  // namespace
}  // namespace vitrine
