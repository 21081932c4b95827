#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "test/runtime/executor/method_fixture.h"

namespace vitrine {
namespace {

using test::bytes_of;
using test::MethodSpec;
using test::Planned;
using testing::HasSubstr;

constexpr uint64_t kStateBytes = 64;

// Blocks an execution until the test opens the gate.
struct Gate {
  std::atomic<bool> is_in = false;
  std::atomic<bool> may_go = false;
};
Gate* gate = nullptr;

void pass_gate(KernelContext&, const Tensor&, Tensor&) {
  gate->is_in = true;
  gate->is_in.notify_all();
  gate->may_go.wait(false);
}
VITRINE_KERNEL(pass_gate, "test::gate.out", pass_gate);
constexpr const Kernel* kGateTable[] = {&kernel_pass_gate};

// Each of the two methods, "forward" and "second", computes state = state + x. The state is f32[2]
// in memory 2.
class SharedStateTest : public test::MethodTest {
 protected:
  void start_over() {
    MethodTest::start_over();
    second_ = {};
    second_.name = "second";
  }
  void build_two(uint32_t data = 0) {
    for (MethodSpec* method : {&forward_, &second_}) add_to_state(*method, data);
  }
  void add_to_state(MethodSpec& method, uint32_t data = 0) {
    method.buffer_sizes = {0, 64, kStateBytes};
    const int x = method.tensor({.sizes = {2}, .planned = Planned{1, 0}});
    const int state = method.tensor({.sizes = {2}, .planned = Planned{2, 0}, .data = data});
    method.inputs = {x};
    method.outputs = {state};
    method.kernel_call(method.op("test::add", "out"), {state, x, state, state});
  }
  // Creates the shared state of the program that the builder describes.
  void make_state() {
    program_ = build();
    state_ = test::require(SharedState::create(program_));
  }
  Result<std::unique_ptr<Method>> try_over(std::string_view name, SharedState* state) {
    return Method::load(program_, name, {.kernels = &test::test_kernels(), .shared_state = state});
  }
  std::unique_ptr<Method> over(std::string_view name, SharedState* state) {
    return test::require(try_over(name, state));
  }
  float run(Method& method, float x) { return MethodTest::run(method, value({2}, {x, x})).at(1); }

  MethodSpec& second_ = builder_.method("second");
  std::shared_ptr<const Program> program_;
  std::unique_ptr<SharedState> state_;
};

TEST_F(SharedStateTest, MethodsContinueWithTheStateThatOtherMethodsLeft) {
  build_two();
  make_state();
  ASSERT_NE(state_, nullptr);
  EXPECT_EQ(state_->bytes(), kStateBytes);
  const auto first = over("forward", state_.get());
  EXPECT_EQ(run(*first, 1), 1);
  const auto second = over("second", state_.get());
  EXPECT_EQ(run(*second, 2), 3);
  EXPECT_EQ(run(*first, 4), 7);
  const MemoryUsage usage = first->memory_usage();
  EXPECT_EQ(usage.shared, kStateBytes);
  EXPECT_EQ(usage.planned, 64u);
}

TEST_F(SharedStateTest, MethodsWithoutACommonStateAreIndependent) {
  build_two();
  make_state();
  const auto own = over("forward", nullptr);
  const auto second_own = over("second", nullptr);
  EXPECT_EQ(run(*own, 1), 1);
  EXPECT_EQ(run(*second_own, 2), 2);
  EXPECT_EQ(own->memory_usage().planned, 64 + kStateBytes);
  const auto other = test::require(SharedState::create(program_));
  const auto first = over("forward", state_.get());
  const auto second = over("second", other.get());
  EXPECT_EQ(run(*first, 1), 1);
  EXPECT_EQ(run(*second, 2), 2);
}

TEST_F(SharedStateTest, StartsWithTheInitialValueAfterTheFirstLoadAndAfterAReset) {
  const uint32_t data = builder_.initial_state(bytes_of<float>({10, 10}));
  build_two(data);
  // A buffer that only the second method has.
  const int own = second_.tensor({.sizes = {2}, .planned = Planned{2, 32}, .data = data});
  second_.outputs.push_back(own);
  make_state();
  const auto first = over("forward", state_.get());
  EXPECT_EQ(run(*first, 1), 11);
  const auto second = over("second", state_.get());
  EXPECT_EQ(run(*second, 2), 13) << "loading must not reset the state";
  EXPECT_EQ(output(*second, 1)[0], 10);
  EXPECT_EQ(run(*over("forward", state_.get()), 1), 14);
  // Any method can reset the state.
  ASSERT_TRUE(second->reset_state().ok());
  EXPECT_EQ(run(*first, 1), 11);
  EXPECT_EQ(run(*second, 2), 13);
}

// A view shares the state's memory and has no initial value.
TEST_F(SharedStateTest, ViewsAndEmptyTensorsDoNotSetAnInitialValue) {
  for (const std::vector<int32_t>& sizes : {std::vector<int32_t>{2, 1}, {0}}) {
    start_over();
    const uint32_t data = builder_.initial_state(bytes_of<float>({10, 10}));
    for (MethodSpec* method : {&forward_, &second_}) {
      method->tensor({.sizes = sizes, .planned = Planned{2, 0}});
      add_to_state(*method, data);
    }
    make_state();
    EXPECT_EQ(run(*over("forward", state_.get()), 1), 11) << sizes.size();
    EXPECT_EQ(run(*over("second", state_.get()), 2), 13) << sizes.size();
  }
}

// The first method has already initialized the state. Loading the second method still counts the
// second method's initial values as steps, because a reset copies them.
TEST_F(SharedStateTest, InitialValuesOfOtherMethodsCountTowardTheBudget) {
  const uint32_t data = builder_.initial_state(bytes_of<float>({10, 10}));
  build_two(data);
  constexpr int kStates = 1000;
  for (int i = 1; i < kStates; ++i) {
    second_.tensor({.sizes = {2}, .planned = Planned{2, 0}, .data = data});
  }
  make_state();
  const auto first = over("forward", state_.get());
  MethodOptions options{.kernels = &test::test_kernels(), .shared_state = state_.get()};
  options.limits.max_load_steps = kStates - 1;
  EXPECT_EQ(Method::load(program_, "second", options).error().code(), ErrorCode::kOutOfResources);
  options.limits.max_load_steps = kStates + 100;
  EXPECT_TRUE(Method::load(program_, "second", options).ok());
}

TEST_F(SharedStateTest, IgnoresMethodsWithoutSharedBuffers) {
  build_two();
  MethodSpec& constant = builder_.method("constant");
  constant.buffer_sizes = {0};
  constant.outputs = {constant.integer(7)};
  make_state();
  ASSERT_NE(state_, nullptr);
  const auto method = over("constant", state_.get());
  EXPECT_EQ(method->memory_usage().shared, 0u);
  EXPECT_TRUE(method->execute().ok());
}

TEST_F(SharedStateTest, AcceptsMemoryOfTheCallerUnlessItIsSmallOrMisaligned) {
  build_two();
  program_ = build();
  alignas(16) std::array<std::byte, kStateBytes + 8> memory{};
  const auto state =
      test::require(SharedState::create(program_, std::span(memory).first(kStateBytes)));
  const auto method = over("second", state.get());
  EXPECT_EQ(run(*method, 3), 3);
  EXPECT_EQ(method->output(0).unchecked_tensor().raw_data(), memory.data());
  EXPECT_THAT(SharedState::create(program_, std::span(memory).first(kStateBytes - 1)),
              test::FailsWith(ErrorCode::kInvalidArgument,
                              "the shared memory must have 64 bytes, 16-byte aligned; got 63"));
  EXPECT_FALSE(SharedState::create(program_, std::span(memory).subspan(8)).ok());
}

TEST_F(SharedStateTest, RejectsMoreMemoryThanTheMachineHas) {
  build_two();
  forward_.buffer_sizes[2] = second_.buffer_sizes[2] = INT64_MAX / 2;
  if constexpr (sizeof(size_t) < sizeof(uint64_t)) {  // exceeds the address space
    const test::AlignedBytes file = builder_.build();
    EXPECT_EQ(Program::load(*view_buffer(file)).error().code(), ErrorCode::kInvalidProgram);
    return;
  }
  program_ = build();
  EXPECT_EQ(SharedState::create(program_).take_error().code(), ErrorCode::kMemoryAllocationFailed);
}

TEST_F(SharedStateTest, EnforcesTheMemoryLimit) {
  build_two();
  program_ = build();
  EXPECT_TRUE(SharedState::create(program_, {}, kStateBytes).ok());
  EXPECT_THAT(SharedState::create(program_, {}, kStateBytes - 1),
              test::FailsWith(
                  ErrorCode::kMemoryAllocationFailed,
                  "no memory for the 64 bytes that the methods share; max_memory_bytes allows 63"));
}

TEST_F(SharedStateTest, CannotBeUsedWithAnotherProgram) {
  build_two();
  make_state();
  program_ = build();
  EXPECT_THAT(
      try_over("forward", state_.get()),
      test::FailsWith(ErrorCode::kInvalidArgument, "the shared state belongs to another program"));
}

// Each program breaks a rule for shared state (vitrine/shared_state.h), so the methods share
// nothing.
TEST_F(SharedStateTest, ProgramsThatBreakARuleHaveNoSharedState) {
  const std::pair<const char*, std::function<void()>> changes[] = {
      {"different sizes", [this] { second_.buffer_sizes[2] += 64; }},
      {"overlapping tensors", [this] { second_.values[1].tensor.planned->offset = 4; }},
      {"an input in memory 2",
       [this] {
         second_.inputs = {second_.tensor({.sizes = {2}, .planned = Planned{2, 32}})};
       }},
      {"a single method",
       [this] {
         start_over();
         add_to_state(forward_);
         second_.buffer_sizes = {0, 64};
       }},
      {"an additional buffer", [this] { forward_.buffer_sizes.push_back(64); }}};
  for (const auto& [reason, change] : changes) {
    SCOPED_TRACE(reason);
    start_over();
    build_two();
    change();
    make_state();
    EXPECT_EQ(state_, nullptr);
  }
}

TEST_F(SharedStateTest, StaysUsableAfterAFailedLoad) {
  build_two();
  second_.kernel_call(second_.op("test::absent", "out"), {0, 0});
  make_state();
  const auto first = over("forward", state_.get());
  EXPECT_EQ(run(*first, 1), 1);
  EXPECT_FALSE(try_over("second", state_.get()).ok());
  EXPECT_EQ(run(*first, 1), 2);
}

// A data map whose get() fails unless `is_whole` is true.
class BrokenData final : public NamedDataMap {
 public:
  bool is_whole = false;

  size_t size() const override { return 1; }
  std::string_view key(size_t) const override { return "state"; }
  Result<DataBuffer> get(std::string_view) const override {
    if (is_whole) return DataBuffer(std::as_bytes(std::span(elements_)));
    return Error::make(ErrorCode::kAccessFailed, "the disk is broken");
  }
  Result<std::optional<TensorLayout>> layout(std::string_view) const override {
    return std::optional<TensorLayout>({ScalarType::kFloat, sizes_, dim_order_});
  }

 private:
  std::array<float, 2> elements_{10, 10};
  std::array<int32_t, 1> sizes_{2};
  std::array<uint8_t, 1> dim_order_{0};
};

TEST_F(SharedStateTest, NextLoadSetsTheInitialValueAfterAFailedLoad) {
  build_two();
  for (MethodSpec* method : {&forward_, &second_}) method->values[1].tensor.external = "state";
  make_state();
  BrokenData data;
  const auto try_both = [&](std::string_view name) {
    return Method::load(
        program_, name,
        {.kernels = &test::test_kernels(), .external_data = &data, .shared_state = state_.get()});
  };
  for (const char* name : {"forward", "forward", "second"}) {
    EXPECT_THAT(try_both(name).take_error().message(), HasSubstr("the disk is broken"));
  }
  data.is_whole = true;
  const auto second = test::require(try_both("second"));
  EXPECT_EQ(run(*second, 1), 11);
  data.is_whole = false;  // the value is not read again
  const auto first = test::require(try_both("forward"));
  EXPECT_EQ(run(*first, 2), 13);
}

TEST_F(SharedStateTest, NoMethodExecutesAfterAFailedReset) {
  build_two();
  for (MethodSpec* method : {&forward_, &second_}) method->values[1].tensor.external = "state";
  make_state();
  BrokenData data;
  data.is_whole = true;
  const MethodOptions options{
      .kernels = &test::test_kernels(), .external_data = &data, .shared_state = state_.get()};
  const auto first = test::require(Method::load(program_, "forward", options));
  const auto second = test::require(Method::load(program_, "second", options));
  EXPECT_EQ(run(*first, 1), 11);
  EXPECT_EQ(run(*second, 1), 12);
  data.is_whole = false;
  ASSERT_EQ(second->reset_state().code(), ErrorCode::kAccessFailed);
  data.is_whole = true;
  EXPECT_EQ(first->execute().code(), ErrorCode::kInvalidState);
  ASSERT_TRUE(first->reset_state().ok());
  EXPECT_EQ(run(*first, 1), 11);
  ASSERT_TRUE(second->set_input(0, value({2}, {1, 1})).ok());
  EXPECT_EQ(second->execute().code(), ErrorCode::kInvalidState)
      << "the reset of its own memory failed";
  ASSERT_TRUE(second->reset_state().ok());
  EXPECT_EQ(run(*second, 2), 12);
}

TEST_F(SharedStateTest, OnlyOneMethodAtATimeUsesTheState) {
  KernelRegistry kernels = test::test_kernels();
  ASSERT_TRUE(kernels.add("gate", kGateTable).ok());
  build_two();
  second_.kernel_call(second_.op("test::gate", "out"), {0, 1, 1});
  make_state();
  Gate the_gate;
  gate = &the_gate;
  const MethodOptions options{.kernels = &kernels, .shared_state = state_.get()};
  const auto first = test::require(Method::load(program_, "forward", options));
  const auto second = test::require(Method::load(program_, "second", options));
  ASSERT_TRUE(first->set_input(0, value({2}, {1, 1})).ok());
  ASSERT_TRUE(second->set_input(0, value({2}, {1, 1})).ok());
  Error in_thread;
  std::thread thread([&] { in_thread = second->execute(); });
  the_gate.is_in.wait(false);
  const Error refused = first->execute();
  const auto loaded = Method::load(program_, "forward", options);
  the_gate.may_go = true;
  the_gate.may_go.notify_all();
  thread.join();
  EXPECT_TRUE(in_thread.ok());
  EXPECT_THAT(
      refused,
      test::FailsWith(ErrorCode::kInvalidState,
                      "forward: another method is using the shared state; wait until it is done"));
  EXPECT_THAT(test::error_of(loaded).message(),
              HasSubstr("forward: another method is using the shared state"));
  EXPECT_TRUE(first->execute().ok());
  EXPECT_EQ(output(*first)[0], 2);
}

}  // namespace
}  // namespace vitrine
