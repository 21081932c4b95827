// Tests how modules treat the memory and the dim order of input arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "test/corruption/guarded_memory.h"
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
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> elements_of(const Array& array) {
  const auto data = array.data<float>();
  return {data->begin(), data->end()};
}

// The program doubles its unplanned input x in place, then computes y = 2 x.
TEST(Module, NeitherWritesBorrowedInputsNorReadsPastTheirEnd) {
  constexpr size_t kCount = 12;
  const std::vector<int32_t> sizes = {kCount};
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 64};
  const int x = method.tensor({.sizes = sizes});
  const int y = method.tensor({.sizes = sizes, .planned = Planned{1, 0}});
  const int add = method.op("aten::add", "out");
  method.inputs = {x};
  method.outputs = {y};
  for (const int to : {x, y}) method.kernel_call(add, {x, x, method.integer(1), to, to});
  const AlignedBytes file = builder.build();
  auto module = test::require(Module::load(file));

  test::GuardedMemory guarded(kCount * sizeof(float), 0);
  const std::span<float> memory(reinterpret_cast<float*>(guarded.data()), kCount);
  std::ranges::fill(memory, 3.0F);
  const Array borrowed = *Array::borrow<float>(memory, sizes);
  const Array owned = *Array::copy_of<float>(memory, sizes);
  for (const Array& array : {borrowed, owned}) {
    const auto outputs = test::require(module.forward({array}));
    EXPECT_THAT(elements_of(*outputs.at(0).array()), Each(12));
  }
  EXPECT_THAT(memory, Each(3));
  EXPECT_THAT(elements_of(owned), Each(6))
      << "the program may write to an array that owns its memory";
}

// A program that returns its input. The input has `dim_order`, and is in planned memory or in the
// caller's memory.
AlignedBytes program_in_order(const std::vector<uint8_t>& dim_order, bool is_planned) {
  ProgramBuilder builder;
  MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 64};
  test::TensorSpec input{.sizes = {1, 2, 1, 3}, .dim_order = dim_order};
  if (is_planned) input.planned = Planned{1, 0};
  method.inputs = {method.tensor(input)};
  method.outputs = method.inputs;
  return builder.build();
}

TEST(Module, AcceptsInputsInAnyDimOrder) {
  const std::vector<std::vector<uint8_t>> orders = {{0, 1, 2, 3}, {0, 2, 3, 1}};
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  for (const bool is_planned : {true, false}) {
    for (const auto& of_program : orders) {
      const AlignedBytes file = program_in_order(of_program, is_planned);
      auto module = test::require(Module::load(file));
      for (const auto& of_input : orders) {
        auto input = Array::zeros(ScalarType::kFloat, {1, 2, 1, 3}, of_input);
        ASSERT_TRUE(input->copy_from(std::as_bytes(std::span(numbers))).ok());
        const auto outputs = test::require(module.forward({*input}));
        EXPECT_EQ(elements_of(*outputs.at(0).array()), numbers);
      }
    }
  }
}

// A program with two inputs, the tensor x and the integer 7. It computes y = |x|. Then it replaces
// x with a tensor of another dim order, and 7 with 8.
class ModuleInputs : public testing::Test {
 protected:
  ModuleInputs() {
    ProgramBuilder builder;
    MethodSpec& method = builder.method("forward");
    method.buffer_sizes = {0, 128};
    const int x = method.tensor({.sizes = {2, 2}});
    const int y = method.tensor({.sizes = {2, 2}, .planned = Planned{1, 0}});
    const int other =
        method.tensor({.sizes = {2, 2}, .dim_order = {1, 0}, .planned = Planned{1, 64}});
    const int number = method.integer(7);
    method.inputs = {x, number};
    method.outputs = {y};
    method.kernel_call(method.op("aten::abs", "out"), {x, y, y});
    method.move(other, x);
    method.move(method.integer(8), number);
    file_ = builder.build();
    module_ = test::require(Module::load(file_, {.threads = 1}));
  }
  Result<std::vector<Value>> call(const std::vector<uint8_t>& dim_order, int number) {
    auto x = Array::zeros(ScalarType::kFloat, {2, 2}, dim_order);
    const std::vector<float> numbers = {1, -2, 3, -4};
    EXPECT_TRUE(x->copy_from(std::as_bytes(std::span(numbers))).ok());
    return module_->forward({*x, number});
  }

  AlignedBytes file_;
  std::optional<Module> module_;
};

TEST_F(ModuleInputs, AreConvertedToTheDimOrderOfTheProgram) {
  for (const std::vector<uint8_t>& order :
       {std::vector<uint8_t>{0, 1}, std::vector<uint8_t>{1, 0}}) {
    for (int run = 0; run < 2; ++run) {
      const auto outputs = test::require(call(order, 7));
      EXPECT_THAT(*outputs.at(0).array()->data<float>(), ElementsAre(1, 2, 3, 4));
    }
  }
}

TEST_F(ModuleInputs, NumbersMustEqualTheExportedValues) {
  ASSERT_TRUE(call({0, 1}, 7).ok());
  EXPECT_THAT(call({0, 1}, 8).take_error().message(), HasSubstr("; it must be 7"));
}

// Tests hostile programs whose outputs have no memory or need too much memory.

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
  auto module = test::require(load(file, max_memory_bytes));
  const Error error_in_cpp = module.forward({}).take_error();
  EXPECT_EQ(error_in_cpp.code(), code);
  const std::string message = error_in_cpp.message();

  vitrine_module* in_c = nullptr;
  vitrine_options options = VITRINE_OPTIONS_INIT;
  options.threads = 1;
  options.max_memory_bytes = max_memory_bytes;
  options.accept_unwritten_outputs = 1;
  EXPECT_EQ(vitrine_module_load_memory(file.data(), file.size(), &options, &in_c), nullptr);
  std::vector<vitrine_value> values(module.method_meta("forward")->num_outputs());
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
