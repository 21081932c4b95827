#include <atomic>
#include <chrono>
#include <thread>

#include "test/runtime/executor/method_fixture.h"
#include "test/support/temporary_file.h"

namespace vitrine {
namespace {

using test::FailsWith;
using testing::ElementsAre;
using testing::HasSubstr;

class MethodThreadsTest : public test::MethodTest {};

// The method doubles input 0. If input 1 is false, the method then repeats a jump instruction
// forever.
class CancelTest : public test::MethodTest {
 protected:
  CancelTest() {
    build_scaling();
    const int ends = forward_.tensor({.dtype = ScalarType::kBool, .sizes = {1}});
    forward_.inputs.push_back(ends);
    forward_.jump_false(ends, 1);
  }

  Error execute(Method& method, bool ends) {
    EXPECT_TRUE(method.set_input(0, value({2, 3}, {1, 2, 3, 4, 5, 6})).ok());
    EXPECT_TRUE(method.set_input(1, EValue(&factory_.make<bool>({1}, {ends}))).ok());
    return method.execute();
  }
  // Executes the endless loop and cancels it from another thread.
  Error execute_and_cancel(Method& method) {
    std::atomic<bool> has_ended = false;
    std::thread other([&] {
      while (!has_ended) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        method.cancel();
      }
    });
    Error error = execute(method, false);
    has_ended = true;
    other.join();
    return error;
  }

  static constexpr MethodLimits kEndless{.max_instructions_per_run = UINT64_MAX};
};

TEST_F(CancelTest, EndsTheExecutionInProgress) {
  EXPECT_STREQ(error_code_name(kCanceled), "Canceled");
  const auto method = load({.limits = kEndless});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(
        execute_and_cancel(*method),
        FailsWith(kCanceled, HasSubstr("forward, chain 0, instruction 1 (jump): canceled")));
    ASSERT_TRUE(execute(*method, true).ok());  // the request was consumed
    EXPECT_THAT(output(*method), ElementsAre(2, 4, 6, 8, 10, 12));
  }
}

TEST_F(CancelTest, HasNoEffectIfNothingIsExecuting) {
  const auto method = load();
  method->cancel();
  EXPECT_TRUE(execute(*method, true).ok());
}

TEST_F(CancelTest, SharedFlagEndsExecutionsUntilItIsCleared) {
  std::atomic<bool> flag = false;
  const auto method = load({.limits = kEndless, .cancel_flag = &flag});
  EXPECT_EQ(execute_and_cancel(*method).code(), kCanceled);
  EXPECT_TRUE(flag);
  EXPECT_THAT(execute(*method, true), FailsWith(kCanceled, HasSubstr("instruction 0")))
      << "no instruction may run";
  flag = false;
  EXPECT_TRUE(execute(*method, true).ok());
}

TEST_F(CancelTest, DeadlineEndsEachExecution) {
  MethodLimits limits = kEndless;
  limits.max_milliseconds_per_run = 30;
  const auto method = load({.limits = limits});
  for (int i = 0; i < 2; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Error error = execute(*method, false);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(30));
    EXPECT_THAT(error, FailsWith(ErrorCode::kOutOfResources,
                                 HasSubstr("instruction 1 (jump): the run takes longer than "
                                           "max_milliseconds_per_run allows")));
  }
  EXPECT_TRUE(execute(*method, true).ok());
  limits.max_milliseconds_per_run = UINT64_MAX;
  EXPECT_TRUE(execute(*load({.limits = limits}), true).ok());
}

// Two threads load and execute methods of one program at the same time. Each thread has its own
// state.
TEST_F(MethodThreadsTest, ThreadsShareAProgram) {
  constexpr int kRuns = 500;
  add_x_and_out({2});
  add(out_, x_, out_);
  const uint32_t ones = builder_.constant(test::bytes_of<float>({1, 1}));
  add(out_, forward_.tensor({.sizes = {2}, .data = ones}), out_);
  const test::TemporaryFile file(builder_.build());
  const auto program = test::require(Program::load(*open_file(file.path())));

  std::array<float, 2> results{};
  std::array<std::thread, 2> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      test::TensorFactory factory;
      const auto step = static_cast<float>(i + 1);
      const EValue x(&factory.make<float>({2}, {step, step}));
      for (int load = 0; load < 20; ++load) {
        auto method = Method::load(program, "forward", {.kernels = &test::test_kernels()});
        if (!method.ok()) return;
        for (int run = 0; run < kRuns; ++run) {
          if (!(*method)->set_input(0, x).ok() || !(*method)->execute().ok()) return;
        }
        results[i] = output(**method)[1];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results[0], 2.0f * kRuns);
  EXPECT_EQ(results[1], 3.0f * kRuns);
}

}  // namespace
}  // namespace vitrine
