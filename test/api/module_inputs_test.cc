// Tests how modules treat the memory and the dim order of input arrays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "test/corruption/guarded_memory.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "vitrine/module.h"

namespace vitrine {
namespace {

using test::Planned;
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
  test::ProgramBuilder builder;
  test::MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 64};
  const int x = method.tensor({.sizes = sizes});
  const int y = method.tensor({.sizes = sizes, .planned = test::Planned{1, 0}});
  const int add = method.op("aten::add", "out");
  method.inputs = {x};
  method.outputs = {y};
  for (const int to : {x, y}) method.kernel_call(add, {x, x, method.integer(1), to, to});
  const test::AlignedBytes file = builder.build();
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
test::AlignedBytes program_in_order(const std::vector<uint8_t>& dim_order, bool is_planned) {
  test::ProgramBuilder builder;
  test::MethodSpec& method = builder.method("forward");
  method.buffer_sizes = {0, 64};
  test::TensorSpec input{.sizes = {1, 2, 1, 3}, .dim_order = dim_order};
  if (is_planned) input.planned = test::Planned{1, 0};
  method.inputs = {method.tensor(input)};
  method.outputs = method.inputs;
  return builder.build();
}

TEST(Module, AcceptsInputsInAnyDimOrder) {
  const std::vector<std::vector<uint8_t>> orders = {{0, 1, 2, 3}, {0, 2, 3, 1}};
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};
  for (const bool is_planned : {true, false}) {
    for (const auto& of_program : orders) {
      const test::AlignedBytes file = program_in_order(of_program, is_planned);
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

// A program that computes y = |x|, then replaces its inputs: the tensor x with a tensor of another
// dim order, and the integer 7 with 8.
class ModuleInputs : public testing::Test {
 protected:
  ModuleInputs() {
    test::ProgramBuilder builder;
    test::MethodSpec& method = builder.method("forward");
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
    auto module = Module::load(file_, {.threads = 1});
    EXPECT_TRUE(module.ok()) << module.error().message();
    module_ = std::move(*module);
  }
  Result<std::vector<Value>> call(const std::vector<uint8_t>& dim_order, int number) {
    auto x = Array::zeros(ScalarType::kFloat, {2, 2}, dim_order);
    const std::vector<float> numbers = {1, -2, 3, -4};
    EXPECT_TRUE(x->copy_from(std::as_bytes(std::span(numbers))).ok());
    return module_->forward({*x, number});
  }

  test::AlignedBytes file_;
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
  const auto refused = call({0, 1}, 8);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message(), HasSubstr("; it must be 7"));
}

}  // namespace
}  // namespace vitrine
