// Tests that failed allocations and exhausted budgets are errors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "demo_backend/format.h"
#include "demo_backend/runtime.h"
#include "test/support/allocation_counter.h"
#include "test/support/results.h"
#include "test/support/tensor_factory.h"

namespace vitrine::test {
namespace {

// z = cos(sin(x)) of `count` elements, with an intermediate value.
std::vector<std::byte> payload(uint32_t count) {
  // The words are: the magic number, the numbers of inputs and outputs, the rank and the size of
  // each of the three values, the value of the output, and the values of the operators' inputs.
  constexpr std::string_view kText = "2#sin_decomp_from_tan,5,cos_decomp_from_tan,6,";
  const std::vector<uint32_t> words = {demo::kMagic, 1, 1, 1, count, 1, count, 1, count, 2, 0, 1};
  const size_t begin = (kText.size() + 1 + 3) / 4 * 4;
  std::vector<std::byte> bytes(begin + words.size() * 4);
  std::memcpy(bytes.data(), kText.data(), kText.size());
  std::memcpy(bytes.data() + begin, words.data(), words.size() * 4);
  return bytes;
}

Result<std::unique_ptr<Delegate>> load_demo(uint32_t count, Budget* budget = nullptr) {
  BackendInitContext context;
  context.memory = budget;
  return demo::backend().init(context, payload(count), {});
}

TEST(DemoBackendFaultTest, ReportsEveryFailedAllocationDuringLoad) {
  int failures = 0;
  const std::vector<std::byte> bytes = payload(4000);
  for (;; ++failures) {
    fail_allocation(failures + 1);
    const auto delegate = demo::backend().init({}, bytes, {});
    const bool failed = allocation_has_failed();
    fail_allocation(0);
    if (!failed) break;
    EXPECT_EQ(error_of(delegate).code(), ErrorCode::kMemoryAllocationFailed);
  }
  EXPECT_GE(failures, 3);
}

TEST(DemoBackendFaultTest, ResultsCountTowardTheMemoryBudget) {
  Budget budget(1 << 20);
  {
    const auto delegate = test::require(load_demo(4000, &budget));
    EXPECT_GE(budget.used(), 16000u);
  }
  EXPECT_EQ(budget.used(), 0u);
  EXPECT_THAT(load_demo(1 << 20, &budget), FailsWith(ErrorCode::kMemoryAllocationFailed,
                                                     "no memory for 1048576 items of 4 bytes"));
}

// The two results together may need at most 1 GiB.
TEST(DemoBackendFaultTest, RejectsResultsAboveTheLimit) {
  Budget budget(1 << 20);
  EXPECT_THAT(load_demo(1 << 27, &budget), FailsWith(ErrorCode::kMemoryAllocationFailed,
                                                     "no memory for 134217728 items of 4 bytes"));
  EXPECT_THAT(load_demo((1 << 27) + 1, &budget),
              FailsWith(ErrorCode::kDelegateInvalidCompatibility,
                        "payload: its results need more than 1 GiB"));
}

TEST(DemoBackendFaultTest, CountsOneLoadStepPerWordOfThePayload) {
  const std::vector<std::byte> bytes = payload(3);
  Budget steps(2 * (bytes.size() / 4) + 1);
  BackendInitContext context;
  context.load_steps = &steps;
  for (const bool is_enough : {true, true, false}) {
    const auto delegate = demo::backend().init(context, bytes, {});
    EXPECT_EQ(error_of(delegate).code(), is_enough ? ErrorCode::kOk : ErrorCode::kOutOfResources);
  }
  EXPECT_EQ(steps.left(), 1u);
}

TEST(DemoBackendFaultTest, ComputesIntermediateValuesInItsOwnMemory) {
  const auto delegate = test::require(load_demo(3));
  TensorFactory factory;
  Tensor& x = factory.make<float>({3}, {0, 1, -2});
  Tensor& z = factory.make(ScalarType::kFloat, {3});
  EValue* arguments[] = {&factory.value(x), &factory.value(z)};
  ASSERT_TRUE(delegate->execute({}, arguments).ok());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(z.data<float>()[i], std::cos(std::sin(x.data<float>()[i])));
  }
}

}  // namespace
}  // namespace vitrine::test
