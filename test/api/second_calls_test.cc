// Tests successive calls of one method. Moves and views of one call must not affect the next call,
// and the method must not access memory that the caller has replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "api/builtin.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine {
namespace {

using test::Planned;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class SecondCallsTest : public testing::Test {
 protected:
  using Floats = std::array<float, 4>;

  SecondCallsTest() { forward_.buffer_sizes = {0, 1024}; }

  int tensor(std::optional<uint64_t> offset = std::nullopt) {
    test::TensorSpec spec{.sizes = {4}};
    if (offset) spec.planned = Planned{1, *offset};
    return forward_.tensor(spec);
  }
  int flag() {
    return forward_.tensor({.dtype = ScalarType::kBool, .sizes = {}, .planned = Planned{1, 0}});
  }
  void signature(std::vector<int32_t> inputs, std::vector<int32_t> outputs) {
    forward_.inputs = std::move(inputs);
    forward_.outputs = std::move(outputs);
  }
  void abs(int from, int to) {
    forward_.kernel_call(forward_.op("aten::abs", "out"), {from, to, to});
  }
  void neg(int from, int to) {
    forward_.kernel_call(forward_.op("aten::neg", "out"), {from, to, to});
  }
  void view(int from, int to) {
    forward_.kernel_call(forward_.op("executorch_prim::et_view", "default"),
                         {from, forward_.int_list({forward_.integer(4)}), to});
  }
  void load() {
    file_ = builder_.build();
    method_ = test::require(
        Method::load(*Program::load(*view_buffer(file_)), "forward",
                     {.kernels = &builtin_kernels(true), .check_plan = &refuse_overlaps}));
  }

  // Sets an input to the caller's floats. If the input is not planned, the method reads them in
  // place.
  void set(size_t index, Floats& floats) {
    std::array<int32_t, 1> sizes = {4};
    const std::array<uint8_t, 1> order = {0};
    std::array<int64_t, 1> strides = {};
    Tensor tensor(ScalarType::kFloat, sizes, order, strides, floats.data());
    EXPECT_STREQ(method_->set_input(index, EValue(&tensor)).message(), "");
  }
  void set(size_t index, bool holds) {
    Tensor& tensor = factory_.make(ScalarType::kBool, {});
    *tensor.unchecked_mutable_data<uint8_t>() = holds;
    ASSERT_TRUE(method_->set_input(index, EValue(&tensor)).ok());
  }
  void set_output(Floats& floats, size_t index = 0) {
    const auto bytes = std::as_writable_bytes(std::span(floats));
    EXPECT_STREQ(method_->set_output_data(index, bytes).message(), "");
  }
  std::vector<float> output() const {
    return test::values_of<float>(method_->output(0).unchecked_tensor());
  }
  // Executes the method, and returns its first output.
  std::vector<float> run_again() {
    EXPECT_STREQ(method_->execute().message(), "");
    return output();
  }

  test::ProgramBuilder builder_;
  test::MethodSpec& forward_ = builder_.method("forward");
  test::AlignedBytes file_;
  std::unique_ptr<Method> method_;
  test::TensorFactory factory_;
};

// If the method kept its views of inputs, the next call would read the former memory of the input.
TEST_F(SecondCallsTest, ViewsOfInputsAreDiscarded) {
  const int x = tensor();
  const int jumps = flag();
  const int seen = tensor();
  const int out = tensor(64);
  signature({x, jumps}, {out});
  forward_.jump_false(jumps, 2);
  abs(seen, out);
  view(x, seen);
  load();
  Floats given = {1, 1, 1, 1};
  set(0, given);
  set(1, false);
  ASSERT_TRUE(method_->execute().ok());
  set(1, true);
  EXPECT_THAT(method_->execute().message(), HasSubstr("argument 0 is a tensor without memory"));
}

TEST_F(SecondCallsTest, RestoresInputsThatACallChangedToViews) {
  const int x = tensor();
  const int y = tensor();
  const int out = tensor(64);
  signature({x, y}, {out});
  abs(y, out);
  view(x, y);
  load();
  Floats one = {1, 1, 1, 1};
  Floats two = {2, 2, 2, 2};
  set(0, one);
  set(1, two);
  for (int run = 0; run < 2; ++run) EXPECT_THAT(run_again(), Each(2));
}

TEST_F(SecondCallsTest, SettingAnInputDoesNotOverwriteAnotherInput) {
  const int planned = tensor(64);
  const int x = tensor();
  signature({planned, x}, {planned});
  forward_.move(x, planned);
  load();
  Floats first = {1, 1, 1, 1};
  Floats moved = {2, 2, 2, 2};
  Floats second = {3, 3, 3, 3};
  set(0, first);
  set(1, moved);
  EXPECT_THAT(run_again(), Each(2));
  set(0, second);
  EXPECT_THAT(moved, Each(2)) << "the caller's memory must not change";
}

// In the first call, a move instruction gives `kept` the memory of an input or output. In the next
// call, `kept` must not have this memory, so the write to `kept` must fail.
TEST_F(SecondCallsTest, DiscardsInputMemoryThatAMoveInstructionAssigned) {
  const int x = tensor();
  const int y = tensor(64);
  const int jumps = flag();
  const int kept = tensor();
  const int spare = tensor();
  signature({x, y, jumps}, {y});
  forward_.jump_false(jumps, 2);
  abs(y, kept);
  forward_.move(x, kept);
  forward_.move(spare, x);
  load();
  Floats first = {1, 1, 1, 1};
  Floats other = {5, 5, 5, 5};
  set(0, first);
  set(1, other);
  set(2, false);
  ASSERT_TRUE(method_->execute().ok());
  set(1, other);
  set(2, true);
  EXPECT_FALSE(method_->execute().ok()) << "`kept` must not have memory";
  EXPECT_THAT(first, Each(1));
}

TEST_F(SecondCallsTest, DiscardsOutputMemoryThatAMoveInstructionAssigned) {
  const int x = tensor(64);
  const int jumps = flag();
  const int out = tensor();
  const int kept = tensor();
  const int spare = tensor(128);
  signature({x, jumps}, {out});
  forward_.jump_false(jumps, 2);
  abs(x, kept);
  forward_.move(out, kept);
  forward_.move(spare, out);
  load();
  Floats given = {5, 5, 5, 5};
  Floats first = {};
  set_output(first);
  set(0, given);
  set(1, false);
  ASSERT_TRUE(method_->execute().ok());
  Floats second = {};
  set_output(second);
  set(0, given);
  set(1, true);
  EXPECT_FALSE(method_->execute().ok()) << "`kept` must not have memory";
  EXPECT_THAT(first, Each(0));
}

// out = cond(holds, abs(x), neg(x)). As in emitted programs, each branch moves its result to the
// output.
TEST_F(SecondCallsTest, BranchesWriteToTheCallersMemory) {
  const int holds = flag();
  const int x = tensor(64);
  const int positive = tensor(128);
  const int negative = tensor(192);
  const int out = tensor();
  const int no = forward_.boolean(false);
  signature({holds, x}, {out});
  forward_.jump_false(holds, 4);
  abs(x, positive);
  forward_.move(positive, out);
  forward_.jump_false(no, 6);
  neg(x, negative);
  forward_.move(negative, out);
  load();
  Floats given = {5, 6, 7, 8};
  std::array<Floats, 4> results{};
  for (size_t run = 0; run < results.size(); ++run) {
    const bool branch = run == 0 || run == 2;
    set(0, branch);
    set(1, given);
    if (run < 3) set_output(results[run]);
    ASSERT_TRUE(method_->execute().ok());
    EXPECT_EQ(method_->output(0).unchecked_tensor().raw_data(),
              results[std::min<size_t>(run, 2)].data());
  }
  EXPECT_THAT(results[0], ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(results[1], ElementsAre(-5, -6, -7, -8));
  EXPECT_THAT(results[2], ElementsAre(-5, -6, -7, -8)) << "the fourth run must write here";
  EXPECT_THAT(results[3], Each(0));
}

TEST_F(SecondCallsTest, OutputsThatAreViewsAreCopiedToTheCallersMemory) {
  const int x = tensor(64);
  const int out = tensor();
  signature({x}, {out});
  view(x, out);
  load();
  Floats given = {5, 6, 7, 8};
  for (int run = 0; run < 2; ++run) {
    Floats result{};
    set(0, given);
    set_output(result);
    ASSERT_TRUE(method_->execute().ok());
    EXPECT_THAT(result, ElementsAre(5, 6, 7, 8));
  }
}

// Computes now = |x| and before = -x, then swaps them.
TEST_F(SecondCallsTest, MoveInstructionsCanSwapOutputs) {
  const int x = tensor(64);
  const int now = tensor();
  const int before = tensor();
  const int spare = tensor();
  signature({x}, {now, before});
  abs(x, now);
  neg(x, before);
  forward_.move(now, spare);
  forward_.move(before, now);
  forward_.move(spare, before);
  load();
  Floats given = {1, -2, 3, -4};
  for (int run = 0; run < 2; ++run) {
    std::array<Floats, 2> results{};
    set_output(results[0], 0);
    set_output(results[1], 1);
    set(0, given);
    ASSERT_TRUE(method_->execute().ok());
    EXPECT_THAT(results[0], ElementsAre(-1, 2, -3, 4));
    EXPECT_THAT(results[1], ElementsAre(1, 2, 3, 4));
    EXPECT_EQ(method_->output(0).unchecked_tensor().raw_data(), results[0].data());
    EXPECT_EQ(method_->output(1).unchecked_tensor().raw_data(), results[1].data());
  }
}

// Computes now = |x|; before = now; now = -x. Either output may be the first one in the method's
// list of values.
TEST_F(SecondCallsTest, OutputCanTakeTheFormerValueOfAnotherOutput) {
  for (const bool by_view : {false, true}) {
    for (const bool now_first : {false, true}) {
      forward_ = {};
      forward_.name = "forward";
      forward_.buffer_sizes = {0, 1024};
      const int x = tensor(64);
      const int next = tensor(128);
      const int first = tensor();
      const int second = tensor();
      const int now = now_first ? first : second;
      const int before = now_first ? second : first;
      signature({x}, {now, before});
      abs(x, now);
      neg(x, next);
      by_view ? view(now, before) : forward_.move(now, before);
      forward_.move(next, now);
      load();
      Floats given = {1, -2, 3, -4};
      std::array<Floats, 2> results{};
      set_output(results[0], 0);
      set_output(results[1], 1);
      set(0, given);
      ASSERT_TRUE(method_->execute().ok());
      EXPECT_THAT(results[0], ElementsAre(-1, 2, -3, 4)) << by_view << now_first;
      EXPECT_THAT(results[1], ElementsAre(1, 2, 3, 4)) << by_view << now_first;
    }
  }
}

// In the first call the output becomes a read-only view of a constant. It must be writable again
// when the caller sets its memory.
TEST_F(SecondCallsTest, WritesOutputsThatWereViewsOfConstants) {
  const uint32_t data = builder_.constant(test::bytes_of(std::vector<float>{5, 6, 7, 8}));
  const int constant = forward_.tensor({.sizes = {4}, .data = data});
  const int out = tensor();
  forward_.outputs = {out};
  view(constant, out);
  load();
  ASSERT_TRUE(method_->execute().ok());
  Floats result{};
  set_output(result);
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(method_->execute().ok());
    EXPECT_THAT(result, ElementsAre(5, 6, 7, 8));
    result = {};
  }
}

// After the call, the output refers to the memory of y, until the caller sets memory for the
// output.
TEST_F(SecondCallsTest, CallerCanSetOutputMemoryAfterACall) {
  const int x = tensor(64);
  const int y = tensor(128);
  const int out = tensor();
  signature({x}, {out});
  abs(x, y);
  forward_.move(y, out);
  load();
  Floats given = {1, -2, 3, -4};
  set(0, given);
  ASSERT_TRUE(method_->execute().ok());
  const void* const elsewhere = method_->output(0).unchecked_tensor().raw_data();
  ASSERT_TRUE(method_->allocate_outputs().ok());
  const uint64_t taken = method_->memory_usage().taken;
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(method_->allocate_outputs().ok());
    EXPECT_EQ(method_->memory_usage().taken, taken) << "the output already has memory";
    ASSERT_TRUE(method_->execute().ok());
    EXPECT_NE(method_->output(0).unchecked_tensor().raw_data(), elsewhere);
    EXPECT_THAT(output(), ElementsAre(1, 2, 3, 4));
  }
}

// Computes [weight[i] for i in indices] with the instructions that ExecuTorch emits for a map. The
// counter must start at 0 in each call, even if the previous call failed.
class LoopTest : public SecondCallsTest {
 protected:
  LoopTest() {
    const auto dynamic = schema::program::TensorShapeDynamism::DYNAMIC_BOUND;
    const uint32_t rows =
        builder_.constant(test::bytes_of(std::vector<float>{0, 1, 10, 11, 20, 21, 30, 31}));
    const int indices = forward_.tensor({.dtype = ScalarType::kLong, .sizes = {3}});
    const int weight = forward_.tensor({.sizes = {4, 2}, .data = rows});
    const int index =
        forward_.tensor({.dtype = ScalarType::kLong, .sizes = {}, .planned = Planned{1, 0}});
    const int row = forward_.tensor({.sizes = {2}, .planned = Planned{1, 64}});
    const int out =
        forward_.tensor({.sizes = {3, 2}, .planned = Planned{1, 128}, .dynamism = dynamic});
    const int counter = forward_.integer(0);
    const int length = forward_.integer(0);
    const int zero = forward_.integer(0);
    const int one = forward_.integer(1);
    const int none = forward_.integer(-1);
    const int no = forward_.boolean(false);
    const int done = forward_.boolean(false);
    signature({indices}, {out});
    forward_.kernel_call(forward_.op("aten::sym_size", "int"), {indices, zero, length});
    forward_.kernel_call(forward_.op("aten::select_copy", "int_out"),
                         {indices, zero, counter, index, index});
    forward_.kernel_call(forward_.op("aten::embedding", "out"),
                         {weight, index, none, no, no, row, row});
    forward_.kernel_call(forward_.op("executorch_prim::et_copy_index", "tensor"),
                         {out, row, counter});
    forward_.kernel_call(forward_.op("executorch_prim::add", "Scalar"), {counter, one, counter});
    forward_.kernel_call(forward_.op("executorch_prim::eq", "Scalar"), {counter, length, done});
    forward_.jump_false(done, 1);
    forward_.kernel_call(forward_.op("executorch_prim::sub", "Scalar"), {counter, length, counter});
  }
  Error run(std::vector<int64_t> indices) {
    const EValue value(&factory_.make<int64_t>({3}, std::move(indices)));
    EXPECT_TRUE(method_->set_input(0, value).ok());
    return method_->execute();
  }
};

TEST_F(LoopTest, LoopStartsOverAfterAFailedExecution) {
  load();
  ASSERT_TRUE(run({1, 2, 3}).ok());
  EXPECT_THAT(output(), ElementsAre(10, 11, 20, 21, 30, 31));
  EXPECT_THAT(run({0, 9, 1}).message(), HasSubstr("index 9"));
  ASSERT_TRUE(run({3, 2, 1}).ok());
  EXPECT_THAT(output(), ElementsAre(30, 31, 20, 21, 10, 11));
}

// et_copy_index writes to `all`, which has the memory of an input.
TEST_F(SecondCallsTest, InputsOverwrittenByCopyIndexMustBeSetAgain) {
  const int x = tensor(64);
  const int y = tensor(128);
  const int all =
      forward_.tensor({.sizes = {4, 1},
                       .planned = Planned{1, 64},
                       .dynamism = schema::program::TensorShapeDynamism::DYNAMIC_BOUND});
  const int row = forward_.tensor({.sizes = {1}, .planned = Planned{1, 192}});
  signature({x, y}, {y});
  abs(x, y);
  forward_.kernel_call(forward_.op("executorch_prim::et_copy_index", "tensor"),
                       {all, row, forward_.integer(0)});
  load();
  Floats given = {1, 2, 3, 4};
  set(0, given);
  set(1, given);
  ASSERT_TRUE(method_->execute().ok());
  EXPECT_THAT(method_->execute().message(), HasSubstr("input 0 must be set again"));
}

// A view of an input does not count as a write.
TEST_F(SecondCallsTest, InputsReadThroughAViewKeepTheirValues) {
  const int x = tensor(64);
  const int seen = tensor(64);
  const int out = tensor(128);
  signature({x}, {out});
  view(x, seen);
  abs(seen, out);
  load();
  Floats given = {1, 2, 3, 4};
  set(0, given);
  for (int run = 0; run < 2; ++run) EXPECT_THAT(run_again(), ElementsAre(1, 2, 3, 4));
}

}  // namespace
}  // namespace vitrine
