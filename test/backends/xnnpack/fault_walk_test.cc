// Every allocation of a method fails in turn: of the runtime, its kernels and XNNPACK. Each failure
// is an error that says something, after which the same method works again or refuses for good.
//
// Loading is walked for programs without delegates only: reading a payload still ends the process
// where memory for its lists runs out.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <iostream>
#include <optional>

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "kernels/portable/portable_kernels.h"
#include "test/support/allocation_counter.h"
#include "test/support/corpus.h"
#include "test/support/tensor_factory.h"
#include "vitrine/method.h"

namespace vitrine::test {
namespace {

using Output = std::vector<std::byte>;

class FaultWalk {
 public:
  explicit FaultWalk(const char* sample)
      : program_(std::move(
            *Program::load(std::move(*map_file((samples_dir() / sample / "model.pte").c_str()))))) {
    EXPECT_TRUE(backends_.add(&xnnpack_backend()).ok());
    EXPECT_TRUE(kernels_.add("portable", portable::kernels()).ok());
  }

  Result<std::unique_ptr<Method>> load() {
    MethodOptions options;
    options.kernels = &kernels_;
    options.backends = &backends_;
    return Method::load(program_, "forward", options);
  }

  // Of a batch if that may change.
  Error run(Method& method, std::optional<int32_t> batch, Output* output) {
    const TensorInfo info = method.meta().input_tensor(0);
    std::vector<int32_t> sizes(info.sizes.begin(), info.sizes.end());
    if (batch && info.dynamism != ShapeDynamism::kStatic) sizes[0] = *batch;
    for (size_t i = 0; i < method.num_inputs(); ++i) {
      const TensorInfo each = method.meta().input_tensor(i);
      Tensor& input = inputs_.make(
          each.dtype, i == 0 ? sizes : std::vector<int32_t>(each.sizes.begin(), each.sizes.end()));
      for (int64_t k = 0; k < input.numel(); ++k) {
        input.mutable_data<float>()[k] = static_cast<float>(k % 17) / 8 - 1;
      }
      prepared_.push_back(EValue(&input));
      VITRINE_RETURN_IF_ERROR(method.set_input(i, prepared_.back()));
    }
    fail_allocation(n_);
    Error error = method.execute();
    failed_ = allocation_has_failed();
    fail_allocation(0);
    if (error.ok()) {
      const Tensor& result = method.output(0).tensor();
      const auto* bytes = static_cast<const std::byte*>(result.raw_data());
      output->assign(bytes, bytes + result.nbytes());
    }
    return error;
  }

  // Number of loads that failed.
  int walk_loading() {
    Output expected;
    EXPECT_TRUE(run(**load(), {}, &expected).ok());
    for (int n = 1;; ++n) {
      fail_allocation(n);
      Result<std::unique_ptr<Method>> method = load();
      const bool failed = allocation_has_failed();
      fail_allocation(0);
      if (!failed) return n - 1;
      if (!method.ok()) {
        EXPECT_NE(method.error().code(), ErrorCode::kOk);
        continue;
      }
      Output output;
      EXPECT_TRUE(run(**method, {}, &output).ok());
      EXPECT_EQ(output, expected) << "allocation " << n;
    }
  }

  // Number of allocations of three executions that failed; shapes change in between.
  int walk_executing() {
    constexpr std::array<int32_t, 3> kBatches = {1, 4, 2};
    std::array<Output, 3> expected;
    {
      const auto method = std::move(*load());
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(run(*method, kBatches[i], &expected[i]).ok());
      }
    }
    int failures = 0;
    for (size_t faulty = 0; faulty < 3; ++faulty) {
      for (int n = 1;; ++n) {
        const auto method = std::move(*load());
        bool failed = false;
        for (size_t i = 0; i < 3; ++i) {
          Output output;
          n_ = i == faulty ? n : 0;
          const Error error = run(*method, kBatches[i], &output);
          failed = failed || failed_;
          n_ = 0;
          if (error.ok()) {
            EXPECT_EQ(output, expected[i]);
            continue;
          }
          EXPECT_EQ(i, faulty) << error.message();
          const Error again = run(*method, kBatches[i], &output);
          EXPECT_TRUE(again.ok()) << again.message();
          EXPECT_EQ(output, expected[i]);
        }
        if (!failed) break;
        ++failures;
      }
    }
    return failures;
  }

 private:
  std::shared_ptr<const Program> program_;
  KernelRegistry kernels_;
  BackendRegistry backends_;
  TensorFactory inputs_;
  std::deque<EValue> prepared_;
  int n_ = 0;
  bool failed_ = false;
};

class LoadingWalkTest : public testing::TestWithParam<const char*> {};
TEST_P(LoadingWalkTest, EveryFailureIsAnError) {
  const int failures = FaultWalk(GetParam()).walk_loading();
  EXPECT_GE(failures, 4);
  std::cout << failures << " allocations failed\n";
}
INSTANTIATE_TEST_SUITE_P(Samples, LoadingWalkTest, testing::Values("add_mul", "digits_portable"));

class ExecutionWalkTest : public testing::TestWithParam<const char*> {};
TEST_P(ExecutionWalkTest, TheMethodWorksAgain) {
  const int failures = FaultWalk(GetParam()).walk_executing();
  EXPECT_GE(failures, 1);
  std::cout << failures << " allocations failed\n";
}
INSTANTIATE_TEST_SUITE_P(Samples, ExecutionWalkTest,
                         testing::Values("digits_xnnpack", "digits_xnnpack_q8",
                                         "dynamic_batch_xnnpack"));

}  // namespace
}  // namespace vitrine::test
