#include <thread>

#include "test/runtime/executor/method_fixture.h"
#include "test/support/temporary_file.h"

namespace vitrine {
namespace {

using test::Planned;

class MethodThreadsTest : public test::MethodTest {};

// Two threads load and execute methods of one program at once, each with separate state.
TEST_F(MethodThreadsTest, ShareAProgram) {
  constexpr int kRuns = 500;
  forward_.buffer_sizes = {0, 96};
  x_ = forward_.tensor({.sizes = {2}, .planned = Planned{1, 0}});
  out_ = forward_.tensor({.sizes = {2}, .planned = Planned{1, 32}});
  const int constant =
      forward_.tensor({.sizes = {2}, .data = builder_.constant(test::bytes_of<float>({1, 1}))});
  forward_.inputs = {x_};
  forward_.outputs = {out_};
  const int add = forward_.op("test::add", "out");
  forward_.kernel_call(add, {out_, x_, out_, out_});
  forward_.kernel_call(add, {out_, constant, out_, out_});
  const test::TemporaryFile file(builder_.build());
  const auto program = Program::load(*open_file(file.path()));
  ASSERT_TRUE(program.ok());

  std::array<float, 2> results{};
  std::array<std::thread, 2> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      test::TensorFactory factory;
      const auto step = static_cast<float>(i + 1);
      const EValue x(&factory.make<float>({2}, {step, step}));
      for (int load = 0; load < 20; ++load) {
        auto method = Method::load(*program, "forward", {.kernels = &test::test_kernels()});
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
