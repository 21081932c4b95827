#include <array>
#include <cmath>
#include <cstring>

#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using schema::program::TensorShapeDynamism;
using test::FailsWith;
using test::Planned;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class MethodInputsTest : public test::MethodTest {
 protected:
  // The method computes out = x * 2. The sizes of x are at most [4,6]. If `planned` is false, x
  // uses the caller's memory.
  void build_dynamic(bool planned) {
    add_x_and_out({4, 6}, 192, 96);
    for (auto& value : forward_.values) value.tensor.dynamism = TensorShapeDynamism::DYNAMIC_BOUND;
    if (!planned) forward_.values[static_cast<size_t>(x_)].tensor.planned.reset();
    scale(x_, out_);
  }
  void run_with_rows(Method& method, int32_t rows) {
    const EValue x = value({rows, 6}, std::vector<float>(static_cast<size_t>(rows) * 6, 1.5f));
    EXPECT_THAT(run(method, x), Each(3.0f));
    EXPECT_THAT(method.output(0).unchecked_tensor().sizes(), ElementsAre(rows, 6));
  }
};

TEST_F(MethodInputsTest, OnlyPlannedInputsAreCopied) {
  for (const bool planned : {true, false}) {
    start_over();
    build_scaling();
    if (!planned) forward_.values[static_cast<size_t>(x_)].tensor.planned.reset();
    const auto method = load();
    EValue x = value({2, 3}, {1, 2, 3, 4, 5, 6});
    ASSERT_TRUE(method->set_input(0, x).ok());
    x.unchecked_tensor().mutable_data<float>()[0] = 100;
    ASSERT_TRUE(method->execute().ok());
    EXPECT_THAT(output(*method), ElementsAre(planned ? 2 : 200, 4, 6, 8, 10, 12));
  }
}

TEST_F(MethodInputsTest, DynamicInputsCanShrinkAndGrow) {
  for (const bool planned : {true, false}) {
    SCOPED_TRACE(planned);
    start_over();
    build_dynamic(planned);
    const auto method = load();
    for (const int32_t rows : {4, 1, 3, 0, 4}) run_with_rows(*method, rows);
    EXPECT_THAT(
        method->set_input(0, value({5, 6}, std::vector<float>(30))),
        FailsWith(ErrorCode::kInvalidArgument, HasSubstr("input 0: f32[4,6] cannot become [5,6]")));
  }
}

TEST_F(MethodInputsTest, RejectsInputsThatDoNotMatchTheMethod) {
  build_scaling();
  const auto method = load();
  const std::vector<float> zeros(6);
  EXPECT_THAT(method->set_input(1, value({2, 3}, zeros)),
              FailsWith(ErrorCode::kInvalidArgument,
                        "input index 1 is out of range: the method has 1 inputs"));
  EValue empty = value({2, 3}, zeros);
  empty.unchecked_tensor().set_data(nullptr);
  const std::pair<EValue, const char*> cases[] = {
      {EValue(int64_t{1}), "input 0 must be of kind Tensor, got Int"},
      {EValue(&factory_.make(ScalarType::kInt, {2, 3})), "input 0 must have dtype f32, got i32"},
      {value({6}, zeros), "input 0: f32[2,3] cannot become [6]: its rank is fixed"},
      {empty, "input 0 has no data"}};
  for (const auto& [given, message] : cases) {
    EXPECT_STREQ(method->set_input(0, given).message(), message);
  }
  EXPECT_THAT(method->set_input(0, value({3, 2}, zeros)),
              FailsWith(ErrorCode::kNotSupported,
                        "input 0: f32[2,3] cannot become [3,2]: its shape is static"));
  const EValue transposed(&factory_.make(ScalarType::kFloat, {2, 3}, {1, 0}));
  EXPECT_THAT(method->set_input(0, transposed).message(),
              HasSubstr("input 0 has a different dim order"));
}

TEST_F(MethodInputsTest, RejectedInputKeepsTheEarlierInput) {
  build_dynamic(true);
  const auto method = load();
  ASSERT_TRUE(method->set_input(0, value({1, 6}, std::vector<float>(6, 1.f))).ok());
  EXPECT_FALSE(
      method->set_input(0, EValue(&factory_.make(ScalarType::kFloat, {2, 6}, {1, 0}))).ok());
  EXPECT_FALSE(method->set_input(0, value({9, 9}, std::vector<float>(81))).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(output(*method), ElementsAre(2, 2, 2, 2, 2, 2));
}

TEST_F(MethodInputsTest, CopiesOrRejectsMisalignedMemory) {
  std::array<std::byte, 25> memory{};
  const auto misaligned = [&]() -> Tensor& {
    Tensor& tensor = factory_.make(ScalarType::kFloat, {2, 3});
    const float one = 1;
    for (size_t i = 0; i < 6; ++i) std::memcpy(memory.data() + 1 + i * 4, &one, sizeof one);
    tensor.set_data(memory.data() + 1);
    return tensor;
  };
  build_scaling();
  const auto copying = load();
  EXPECT_THAT(run(*copying, EValue(&misaligned())), Each(2.0f));

  forward_.values[static_cast<size_t>(x_)].tensor.planned.reset();
  const auto aliasing = load();
  EXPECT_THAT(aliasing->set_input(0, EValue(&misaligned())),
              FailsWith(ErrorCode::kInvalidArgument,
                        "input 0: the memory is not aligned for elements of f32"));
}

TEST_F(MethodInputsTest, ExecutionRequiresAllInputs) {
  build_scaling();
  forward_.inputs = {forward_.integer(1), x_};
  const auto method = load();
  EXPECT_THAT(method->execute(), FailsWith(ErrorCode::kInvalidState, "input 1 is not set"));
}

TEST_F(MethodInputsTest, NumbersAndStringsMustEqualTheExportedValues) {
  forward_.inputs = {forward_.integer(3),     forward_.boolean(true), forward_.real(0.5),
                     forward_.string("mean"), forward_.none(),        forward_.real(NAN)};
  const auto method = load();
  const EValue nan(static_cast<double>(NAN));
  const EValue same[] = {EValue(int64_t{3}), EValue(true),
                         EValue(0.5),        EValue(std::string_view("mean")),
                         EValue(),           nan};
  for (size_t i = 0; i < std::size(same); ++i) EXPECT_TRUE(method->set_input(i, same[i]).ok()) << i;
  EXPECT_STREQ(method->set_input(0, EValue(int64_t{4})).message(),
               "input 0 was fixed when the program was exported and cannot change");
  EXPECT_EQ(method->set_input(1, EValue(false)).code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(method->set_input(2, EValue(0.51)).ok());
  EXPECT_FALSE(method->set_input(2, nan).ok());
  EXPECT_FALSE(method->set_input(3, EValue(std::string_view("sum"))).ok());
  EXPECT_FALSE(method->set_input(4, EValue(false)).ok());
  EXPECT_TRUE(method->execute().ok());
}

TEST_F(MethodInputsTest, DoublesMayDifferByTheToleranceOfExecuTorch) {
  build_scaling();
  const std::vector<double> numbers{0, 0.5, -1000};
  forward_.inputs.clear();
  for (const double y : numbers) forward_.inputs.push_back(forward_.real(y));
  forward_.inputs.push_back(forward_.double_list(numbers));
  const auto method = load();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double tolerance = 1e-4 + 1e-5 * std::fabs(numbers[i]);
    for (const double part : {0.0, 0.99, -0.99, 1.01, -1.01}) {
      SCOPED_TRACE(testing::Message() << numbers[i] << " by " << part << " of the tolerance");
      std::vector<double> items = numbers;
      items[i] += part * tolerance;
      EXPECT_EQ(method->set_input(i, EValue(items[i])).ok(), std::fabs(part) < 1);
      const EValue list{std::span<const double>(items)};
      EXPECT_EQ(method->set_input(numbers.size(), list).ok(), std::fabs(part) < 1);
    }
  }
}

TEST_F(MethodInputsTest, ListsAndInfinitiesMustEqualTheExportedValues) {
  build_scaling();
  const int one = forward_.integer(1);
  forward_.inputs = {forward_.int_list({one, forward_.integer(2)}),
                     forward_.double_list({1, INFINITY}), forward_.bool_list({1, 0}),
                     forward_.real(INFINITY), forward_.tensor_list({x_})};
  const auto method = load();
  const auto fits = [&](size_t index, const EValue& value) {
    return method->set_input(index, value).ok();
  };
  EXPECT_TRUE(fits(0, factory_.ints({1, 2})));
  EXPECT_FALSE(fits(0, factory_.ints({1, 3})));
  EXPECT_FALSE(fits(0, factory_.ints({1})));
  EXPECT_FALSE(fits(0, factory_.ints({1, 2, 3})));
  const double same[] = {1, INFINITY};
  const double other[] = {1, 7};
  EXPECT_TRUE(fits(1, EValue(std::span<const double>(same))));
  EXPECT_FALSE(fits(1, EValue(std::span<const double>(other))));
  const bool same_flags[] = {true, false};
  const bool other_flags[] = {true, true};
  EXPECT_TRUE(fits(2, EValue(std::span<const bool>(same_flags))));
  EXPECT_FALSE(fits(2, EValue(std::span<const bool>(other_flags))));
  EXPECT_TRUE(fits(3, EValue(static_cast<double>(INFINITY))));
  EXPECT_FALSE(fits(3, EValue(0.0)));
  EXPECT_FALSE(fits(3, EValue(static_cast<double>(-INFINITY))));
  EXPECT_THAT(method->set_input(4, method->input(4)),
              FailsWith(ErrorCode::kNotSupported, "input 4 is a TensorList, which cannot be set"));
}

TEST_F(MethodInputsTest, RejectsConstantAsInput) {
  const uint32_t constant = builder_.constant(test::Bytes(24));
  forward_.inputs = {forward_.tensor({.sizes = {2, 3}, .data = constant})};
  EXPECT_THAT(try_load(),
              FailsWith(ErrorCode::kInvalidProgram, "forward, inputs[0]: is a constant"));
}

// A move instruction may replace an input with a constant. The next set_input() must not write to
// the constant.
TEST_F(MethodInputsTest, NeverCopiesInputsOverConstants) {
  const uint32_t constant = builder_.constant(test::Bytes(24));
  build_scaling();
  forward_.move(forward_.tensor({.sizes = {2, 3}, .data = constant}), x_);
  const auto method = load();
  const EValue x = value({2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(method->set_input(0, x).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(run(*method, x), ElementsAre(2, 4, 6, 8, 10, 12));
}

// out = 2 * (x + y). The offset of `out` determines which input `out` overlaps, if any.
class ReusedInputsTest : public test::MethodTest {
 protected:
  void build(uint64_t second_result) {
    forward_.buffer_sizes = {0, 256};
    x_ = forward_.tensor({.sizes = {8}, .planned = Planned{1, 0}});
    const int y = forward_.tensor({.sizes = {8}, .planned = Planned{1, 64}});
    const int sum = forward_.tensor({.sizes = {8}, .planned = Planned{1, 128}});
    out_ = forward_.tensor({.sizes = {8}, .planned = Planned{1, second_result}});
    forward_.inputs = {x_, y};
    forward_.outputs = {out_};
    add(x_, y, sum);
    scale(sum, out_);
  }
  Error set(Method& method, size_t index, float x) {
    return method.set_input(index, value({8}, std::vector<float>(8, x)));
  }
  // Loads the method and executes it with all elements of x and y equal to these numbers.
  std::unique_ptr<Method> load_and_run(float x, float y) {
    auto method = load();
    EXPECT_TRUE(set(*method, 0, x).ok() && set(*method, 1, y).ok());
    EXPECT_TRUE(method->execute().ok());
    return method;
  }
};

TEST_F(ReusedInputsTest, InputsMustBeSetAgainIfAResultOverlapsThem) {
  // The result has the same offset as y, or overlaps only the first or the last element of y.
  for (const uint64_t place : {64, 36, 92}) {
    SCOPED_TRACE(place);
    start_over();
    build(place);
    const auto method = load_and_run(1, 2);
    EXPECT_THAT(output(*method), Each(6));
    EXPECT_THAT(method->execute(),
                FailsWith(ErrorCode::kInvalidState,
                          "input 1 must be set again: the last execution used its memory"));
    ASSERT_TRUE(set(*method, 1, 3).ok());
    ASSERT_TRUE(method->execute().ok()) << "input 0 is still set";
    EXPECT_THAT(output(*method), Each(8));
  }
}

TEST_F(ReusedInputsTest, InputsWithoutOverlapKeepTheirValues) {
  for (const uint64_t place : {32, 96}) {
    SCOPED_TRACE(place);
    start_over();
    build(place);
    const auto method = load_and_run(1, 2);
    EXPECT_THAT(output(*method), Each(6));
    ASSERT_TRUE(method->execute().ok());
    EXPECT_THAT(output(*method), Each(6));
  }
}

// An output that shares memory with an input remains readable until this input is set again.
TEST_F(ReusedInputsTest, SettingAnInputOverwritesAnOutputInTheSameMemory) {
  build(64);
  const auto method = load_and_run(1, 2);
  EXPECT_THAT(output(*method), Each(2 * (1 + 2)));
  ASSERT_TRUE(set(*method, 0, 5).ok());
  EXPECT_THAT(output(*method), Each(2 * (1 + 2)));
  ASSERT_TRUE(set(*method, 1, 3).ok());
  EXPECT_THAT(output(*method), Each(3));
}

// An input that the program itself writes is state, so it need not be set again.
TEST_F(ReusedInputsTest, MutatedInputsKeepTheirNewValue) {
  build(192);
  scale(x_, x_, 3);
  const auto method = load_and_run(1, 0);
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(output(*method), Each(6));
}

TEST_F(ReusedInputsTest, InputsOverwrittenByDelegatesMustBeSetAgain) {
  build(192);
  forward_.delegate_call(delegate(3),
                         {out_, forward_.tensor({.sizes = {8}, .planned = Planned{1, 0}})});
  const auto method = load_and_run(1, 2);
  EXPECT_THAT(method->execute().message(), HasSubstr("input 0 must be set again"));
}

class MethodOutputsTest : public test::MethodTest {
 protected:
  MethodOutputsTest() {
    build_scaling();
    forward_.values[static_cast<size_t>(out_)].tensor.planned.reset();
  }
  EValue x_value() { return value({2, 3}, {1, 2, 3, 4, 5, 6}); }
};

TEST_F(MethodOutputsTest, AreWrittenToTheCallersMemory) {
  const auto method = load();
  ASSERT_TRUE(method->set_input(0, x_value()).ok());
  std::array<float, 6> memory{};
  ASSERT_TRUE(method->set_output_data(0, std::as_writable_bytes(std::span(memory))).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(memory, ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_EQ(method->output(0).unchecked_tensor().raw_data(), memory.data());
}

// The results are 2 x and 3 x. The second result is correct only if x does not share memory with
// the first result.
TEST_F(MethodOutputsTest, OutputsOverwriteInputsInTheSameMemory) {
  forward_.values[static_cast<size_t>(x_)].tensor.planned.reset();
  forward_.values[static_cast<size_t>(out_)].tensor.planned = Planned{1, 0};
  const int second = forward_.tensor({.sizes = {2, 3}, .planned = Planned{1, 32}});
  forward_.outputs.push_back(second);
  scale(x_, second, 3);
  const auto method = load();
  EXPECT_THAT(run(*method, value({2, 3}, std::vector<float>(6, 1))), Each(2));
  EXPECT_THAT(output(*method, 1), Each(3));
  ASSERT_TRUE(method->set_input(0, method->output(0)).ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_THAT(output(*method, 1), Each(3 * 2 * 2))
      << "the first result overwrites x before 3 x is computed";
}

// The method continues to use the memory that the caller sets for an output.
TEST_F(MethodOutputsTest, KeepTheCallersMemoryUntilNewMemoryIsSet) {
  const auto method = load();
  std::array<float, 6> first{};
  std::array<float, 6> second{};
  ASSERT_TRUE(method->set_output_data(0, std::as_writable_bytes(std::span(first))).ok());
  run(*method, x_value());
  first = {};
  run(*method, x_value());
  EXPECT_THAT(first, ElementsAre(2, 4, 6, 8, 10, 12));
  ASSERT_TRUE(method->set_output_data(0, std::as_writable_bytes(std::span(second))).ok());
  first = {};
  run(*method, x_value());
  EXPECT_THAT(first, Each(0));
  EXPECT_THAT(second, ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(MethodOutputsTest, RequireMemory) {
  const auto method = load();
  ASSERT_TRUE(method->set_input(0, x_value()).ok());
  EXPECT_THAT(method->execute(), FailsWith(ErrorCode::kInvalidState,
                                           HasSubstr("argument 2 is a tensor without memory")));
}

TEST_F(MethodOutputsTest, RejectSmallOrMisalignedMemory) {
  forward_.outputs = {out_, x_, forward_.integer(1)};
  const auto method = load();
  alignas(8) std::array<std::byte, 32> memory{};
  const std::span<std::byte> bytes(memory);
  EXPECT_STREQ(method->set_output_data(0, bytes.first(23)).message(),
               "output 0 needs 24 bytes, got 23");
  EXPECT_STREQ(method->set_output_data(0, bytes.subspan(2)).message(),
               "output 0: the memory is not aligned for elements of f32");
  EXPECT_THAT(method->set_output_data(1, bytes),
              FailsWith(ErrorCode::kInvalidState,
                        "output 1 is memory-planned, so its memory cannot be set"));
  EXPECT_EQ(method->set_output_data(2, bytes).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(method->set_output_data(3, bytes).code(), ErrorCode::kInvalidArgument);
}

TEST_F(MethodOutputsTest, OutputsThatAreInputsUseTheMemoryOfTheInput) {
  const int x = forward_.tensor({.sizes = {2, 3}});
  forward_.inputs = forward_.outputs = {x};
  forward_.chains[0].clear();
  const auto method = load();
  const EValue given = x_value();
  ASSERT_TRUE(method->set_input(0, given).ok());
  std::array<float, 6> memory{};
  EXPECT_THAT(method->set_output_data(0, std::as_writable_bytes(std::span(memory))),
              FailsWith(ErrorCode::kInvalidState,
                        "output 0 is also an input; set its memory with set_input()"));
  ASSERT_TRUE(method->allocate_outputs().ok());
  ASSERT_TRUE(method->execute().ok());
  EXPECT_EQ(method->output(0).unchecked_tensor().raw_data(), given.unchecked_tensor().raw_data());
}

}  // namespace
}  // namespace vitrine
