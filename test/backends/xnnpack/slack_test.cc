// Tests arguments that end at the end of readable memory, since XNNPACK reads past the end of
// tensors.
#include <gmock/gmock.h>

#include <deque>

#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/corruption/guarded_memory.h"
#include "test/support/program_builder.h"
#include "test/support/results.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

using testing::Each;

// The number of readable bytes after a tensor. It is a multiple of the page size, so the tensor
// ends at a page boundary. The delegate relies on these bytes only if the caller declares them.
constexpr size_t kPages = 1 << 16;

class SlackTest : public DelegateTest {
 protected:
  // Returns a tensor of `count` floats with value `x` that ends right before a protected page.
  Tensor& at_the_edge(int32_t count, float x) {
    const auto size = static_cast<size_t>(count);
    Tensor& tensor = factory.make<float>({count}, std::vector<float>(size, x));
    std::byte* data = memories_.emplace_back(size * sizeof(float), 0).data();
    std::memcpy(data, tensor.raw_data(), tensor.nbytes());
    tensor.set_data(data);
    return tensor;
  }

 private:
  std::deque<GuardedMemory> memories_;
};

// All counts are multiples of 4, so each tensor ends at a multiple of 16 bytes, directly before a
// protected page. No count is a multiple of 8, so the last vector of 8 floats crosses the tensor's
// end.
TEST_F(SlackTest, InputsAndOutputsMayEndAtTheEndOfAPage) {
  for (const int32_t count : {4, 12, 20, 28, 36, 60, 1004}) {
    SCOPED_TRACE(count);
    const auto size = static_cast<uint32_t>(count);
    PayloadBuilder b;
    const uint32_t x = b.input({size}), y = b.output({size}), z = b.output({size});
    b.unary(Tag::XNNSquare, x, y);
    b.unary(Tag::XNNNegate, y, z);  // reads an output
    load(b);
    Tensor& square = at_the_edge(count, 0);
    Tensor& negative = at_the_edge(count, 0);
    for (const float value : {3.0f, 5.0f}) {
      run({&at_the_edge(count, value), &square, &negative});
      EXPECT_THAT(values_of<float>(square), Each(value * value));
      EXPECT_THAT(values_of<float>(negative), Each(-value * value));
    }
  }
}

TEST_F(SlackTest, ReadsInputsInPlaceIfBytesPastTheirEndAreReadable) {
  Budget budget;
  memory_budget = &budget;
  load_unary(Tag::XNNSquare, {4});
  const uint64_t loaded = budget.used();
  GuardedMemory memory(16, kPages);
  Tensor& in = factory.make<float>({4}, {1, 2, 3, 4});
  std::memcpy(memory.data(), in.raw_data(), 16);
  in.set_data(memory.data(), /*has_slack=*/true);
  Tensor& out = factory.make(ScalarType::kFloat, {4});
  run({&in, &out});
  EXPECT_THAT(values_of<float>(out), testing::ElementsAre(1, 4, 9, 16));
  EXPECT_EQ(budget.used(), loaded);
  in.set_data(memory.data());
  run({&in, &out});
  EXPECT_GE(budget.used(), loaded + 16);
  delegate.reset();
}

// Computes y = x * x and z = -y, with x in planned memory and y in the caller's memory. Returns the
// number of bytes that an execution charges to the budget. The caller declares `planned` readable
// bytes past x and `given` readable bytes past y.
uint64_t taken_by_a_run(size_t planned, size_t given) {
  constexpr uint32_t kCount = 4;
  constexpr size_t kBytes = kCount * sizeof(float);
  PayloadBuilder b;
  const uint32_t square = b.input({kCount}), y = b.output({kCount}), z = b.output({kCount});
  b.unary(Tag::XNNSquare, square, y);
  b.unary(Tag::XNNNegate, y, z);
  ProgramBuilder builder;
  MethodSpec& forward = builder.method("forward");
  forward.buffer_sizes = {0, kBytes};
  const int in = forward.tensor({.sizes = {kCount}, .planned = Planned{1, 0}});
  const int out = forward.tensor({.sizes = {kCount}});
  const int negative = forward.tensor({.sizes = {kCount}});
  forward.inputs = {in};
  forward.outputs = {out, negative};
  forward.delegate_call(forward.delegate({.id = "XnnpackBackend", .payload = b.build()}),
                        {in, out, negative});
  const AlignedBytes file = builder.build();

  BackendRegistry backends;
  EXPECT_TRUE(backends.add(&xnnpack_backend()).ok());
  GuardedMemory activations(kBytes, kPages);
  GuardedMemory squares(kBytes, kPages);
  GuardedMemory negatives(kBytes, 0);  // nothing reads them
  const std::span<std::byte> planned_memory[] = {{activations.data(), kBytes + planned}};
  MethodOptions options;
  options.backends = &backends;
  options.planned_memory = planned_memory;
  const auto method =
      require(Method::load(require(Program::load(require(view_buffer(file)))), "forward", options));
  EXPECT_TRUE(method->set_output_data(0, {squares.data(), kBytes + given}).ok());
  EXPECT_TRUE(method->set_output_data(1, {negatives.data(), kBytes}).ok());
  TensorFactory factory;
  EXPECT_TRUE(method->set_input(0, EValue(&factory.make<float>({kCount}, {1, 2, 3, 4}))).ok());
  const uint64_t before = method->memory_usage().taken;
  const Error error = method->execute();
  EXPECT_TRUE(error.ok()) << error.message();
  EXPECT_THAT(values_of<float>(method->output(1).unchecked_tensor()),
              testing::ElementsAre(-1, -4, -9, -16));
  return method->memory_usage().taken - before;
}

TEST(MethodSlackTest, CopiesNothingIfBytesPastTheEndAreReadable) {
  EXPECT_EQ(taken_by_a_run(kReadableSlack, kReadableSlack), 0u);
}

TEST(MethodSlackTest, CopiesPlannedMemoryAndOutputsWithoutReadableBytesPastTheirEnd) {
  const auto is_a_copy = testing::AllOf(testing::Ge(16u), testing::Le(16u + kReadableSlack));
  EXPECT_THAT(taken_by_a_run(0, kReadableSlack), is_a_copy);
  EXPECT_THAT(taken_by_a_run(kReadableSlack, 0), is_a_copy);
}

TEST_F(SlackTest, CopiesCountTowardTheMemoryBudget) {
  constexpr uint32_t kMax = 400'000;
  Budget budget;
  memory_budget = &budget;
  load_unary(Tag::XNNSquare, {kMax});
  const auto run_at_the_edge = [&](int32_t count) {
    return execute({&at_the_edge(count, 3), &factory.make(ScalarType::kFloat, {count})});
  };
  ASSERT_TRUE(run_at_the_edge(1000).ok());
  const uint64_t before = budget.used();
  EXPECT_GE(before, 4000u);
  ASSERT_TRUE(run_at_the_edge(3000).ok());
  EXPECT_EQ(budget.used(), before + 8000);
  ASSERT_TRUE(run_at_the_edge(1000).ok());
  EXPECT_EQ(budget.used(), before + 8000);

  ASSERT_TRUE(budget.take(budget.left() - 1000));
  const uint64_t taken = budget.used() - before - 8000;
  const Error error = run_at_the_edge(400'000);
  EXPECT_EQ(error.code(), ErrorCode::kOutOfResources);
  EXPECT_THAT(error.message(), testing::HasSubstr("argument 0 needs a copy of 1600000 bytes"));
  budget.give_back(taken);
  ASSERT_TRUE(run_at_the_edge(400'000).ok());
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
}

// If one tensor were passed as two outputs of different sizes, the delegate could copy it with the
// wrong size.
TEST_F(SlackTest, RejectsOneTensorAsTwoOutputsOfDifferentShapes) {
  constexpr int32_t kLarge = 1 << 14, kSmall = 1 << 10;
  for (const bool large_first : {true, false}) {
    SCOPED_TRACE(large_first);
    const int32_t first = large_first ? kLarge : kSmall;
    const int32_t second = large_first ? kSmall : kLarge;
    PayloadBuilder b;
    std::vector<Tensor*> tensors;
    GuardedMemory memory(kLarge * sizeof(float), 0);
    Tensor& both = factory.make(ScalarType::kFloat, {kLarge}, {}, ShapeDynamism::kDynamicBound);
    both.set_data(memory.data());
    for (const int32_t count : {first, second}) {
      const auto size = static_cast<uint32_t>(count);
      const uint32_t x = b.input({size}), y = b.output({size}), z = b.output({size});
      b.unary(Tag::XNNSquare, x, y);
      b.unary(Tag::XNNNegate, y, z);  // reads an output
      tensors.push_back(&at_the_edge(count, 3));
      tensors.push_back(&both);
      tensors.push_back(&factory.make(ScalarType::kFloat, {count}));
    }
    load(b);
    const Error error = execute(tensors);
    EXPECT_EQ(error.code(), ErrorCode::kInvalidProgram);
    EXPECT_STREQ(error.message(), "argument 1 shares its tensor with an output of another shape");
  }
}

TEST_F(SlackTest, RejectsOneTensorAsInputAndOutputOfDifferentShapes) {
  PayloadBuilder b;
  const uint32_t x = b.input({2, 2048}), y = b.output({2, 1024});
  b.slice({0, 0}, {2, 1024}, x, y);
  load(b);
  GuardedMemory memory(4096 * sizeof(float), 0);
  Tensor& both = factory.make(ScalarType::kFloat, {2, 2048}, {}, ShapeDynamism::kDynamicBound);
  both.set_data(memory.data());
  const Error error = execute({&both, &both});
  EXPECT_EQ(error.code(), ErrorCode::kInvalidProgram);
  EXPECT_STREQ(error.message(), "argument 0 shares its tensor with an output of another shape");
}

// A program that updates a state passes the state both as input and as output.
TEST_F(SlackTest, AcceptsOneTensorAsInputAndOutputOfTheSameShape) {
  load_unary(Tag::XNNSquare, {1024});
  Tensor& both = at_the_edge(1024, 3);
  for (const float expected : {9.0f, 81.0f}) {
    run({&both, &both});
    EXPECT_THAT(values_of<float>(both), Each(expected));
  }
}

TEST_F(SlackTest, RejectsAConstantAsOutput) {
  load_unary(Tag::XNNSquare, {4});
  Tensor& out = factory.make(ScalarType::kFloat, {4});
  out.set_read_only();
  const Error error = execute({&factory.make<float>({4}, {1, 2, 3, 4}), &out});
  EXPECT_EQ(error.code(), ErrorCode::kInvalidProgram);
  EXPECT_STREQ(error.message(),
               "argument 1 is an output of the delegate, but it is a constant of the program");
  EXPECT_FALSE(delegate->is_output(0));
  EXPECT_TRUE(delegate->is_output(1));
}

}  // namespace
}  // namespace vitrine::test
