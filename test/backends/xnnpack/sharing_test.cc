// Tests workspaces and packed weights that delegates share. In one test, the delegates run on
// different threads.
#include <gmock/gmock.h>

#include <memory>
#include <thread>

#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/support/results.h"

namespace vitrine::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = DelegateMemory::Kind;

struct LoadOptions {
  int64_t workspace_sharing = 1;
  bool weights_cache = true;
  const void* program = nullptr;
  Budget* memory = nullptr;
};

class SharingTest : public DelegateTest {
 protected:
  std::unique_ptr<Delegate> load_with(PayloadBuilder& builder, const LoadOptions& how) {
    const BackendOption sharing[] = {
        {"XnnpackBackend", "workspace_sharing_mode", how.workspace_sharing},
        {"XnnpackBackend", "weight_cache_enabled", how.weights_cache}};
    BackendInitContext context;
    context.named_data = named_data;
    context.program = how.program;
    context.memory = how.memory;
    context.options = sharing;
    Result<std::unique_ptr<Delegate>> loaded = backend_.init(context, builder.build(), {});
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    return loaded.ok() ? std::move(*loaded) : nullptr;
  }

  static size_t bytes(Kind kind, std::initializer_list<const Delegate*> delegates) {
    DelegateMemory memory;
    for (const Delegate* each : delegates) each->report_memory(memory);
    return memory.bytes(kind);
  }

  std::vector<float> run_on(Delegate& which, uint32_t count, float x) {
    const auto size = static_cast<int32_t>(count);
    // A delegate copies an input that ends too close to the end of a memory page (slack.h). To
    // avoid the copy, this input begins at the start of a page. With the sizes in these tests, it
    // then ends far enough from the end of a page.
    constexpr size_t kPage = 4096;
    std::vector<float> values(count + 2 * kPage / sizeof(float), x);
    void* begin = values.data();
    size_t space = values.size() * sizeof(float);
    std::align(kPage, count * sizeof(float) + kReadableSlack, begin, space);
    Tensor& in = factory.make(ScalarType::kFloat, {size});
    in.set_data(begin);
    Tensor& out = factory.make(ScalarType::kFloat, {size});
    const Error error = execute(which, {&in, &out});
    EXPECT_TRUE(error.ok()) << error.message();
    return values_of<float>(out);
  }

  XnnpackBackend backend_;
  int program_ = 0;
  int other_program_ = 0;
};

TEST_F(SharingTest, SharesWorkspacesAccordingToTheMode) {
  if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  PayloadBuilder payload = square_plus({1000});
  const auto total = [&](int64_t mode, const void* second_program) {
    const auto first = load_with(payload, {.workspace_sharing = mode, .program = &program_});
    const auto second = load_with(payload, {.workspace_sharing = mode, .program = second_program});
    run_on(*first, 1000, 1);
    run_on(*second, 1000, 1);
    return bytes(Kind::kWorkspace, {first.get(), second.get()});
  };
  const size_t one = total(1, &program_);
  EXPECT_GE(one, 4000u);
  EXPECT_EQ(total(1, &other_program_), 2 * one);
  EXPECT_EQ(total(0, &program_), 2 * one);
  EXPECT_EQ(total(2, &other_program_), one);
}

// Growth of the workspace is charged to the delegate that caused it, until this delegate is
// deleted.
TEST_F(SharingTest, BudgetOfADelegateIncludesTheWorkspaceGrowthItCauses) {
  if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  PayloadBuilder payload = square_plus({1 << 20});
  Budget first_budget;
  Budget second_budget;
  auto first = load_with(payload, {.program = &program_, .memory = &first_budget});
  auto second = load_with(payload, {.program = &program_, .memory = &second_budget});
  const auto total = [&] { return bytes(Kind::kWorkspace, {first.get(), second.get()}); };
  const uint64_t loaded = first_budget.used();
  EXPECT_EQ(second_budget.used(), loaded);
  EXPECT_THAT(run_on(*first, 1000, 2), Each(6));
  const size_t small = total();
  EXPECT_GE(small, 4000u);
  EXPECT_EQ(first_budget.used(), loaded + small);
  EXPECT_THAT(run_on(*second, 500, 2), Each(6));
  EXPECT_EQ(second_budget.used(), loaded);
  EXPECT_THAT(run_on(*second, 100'000, 2), Each(6));
  EXPECT_GE(total(), 400'000u);
  EXPECT_EQ(second_budget.used(), loaded + total() - small);
  first.reset();
  EXPECT_EQ(first_budget.used(), 0u);
  second.reset();
  EXPECT_EQ(second_budget.used(), 0u);
}

TEST_F(SharingTest, BudgetLimitsTheGrowthOfAWorkspace) {
  if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  PayloadBuilder payload = square_plus({10'000});
  Budget budget(100'000);
  const auto bounded = load_with(payload, {.program = &program_, .memory = &budget});
  EXPECT_THAT(run_on(*bounded, 10'000, 2), Each(6));
  ASSERT_TRUE(budget.take(budget.left()));
  const size_t workspace_bytes = bytes(Kind::kWorkspace, {bounded.get()});
  ASSERT_LT(workspace_bytes, 120'000u);
  const std::string text = "the bound of " + std::to_string(workspace_bytes) + " bytes";
  EXPECT_THAT(execute(*bounded, {&factory.make(ScalarType::kFloat, {30'000}),
                                 &factory.make(ScalarType::kFloat, {30'000})}),
              FailsWith(ErrorCode::kOutOfResources, HasSubstr(text)));
  EXPECT_THAT(run_on(*bounded, 10'000, 3), Each(12));
}

// The product packs its second matrix into the workspace, so tensor sizes alone do not bound the
// workspace.
TEST_F(SharingTest, BudgetLimitsTemporaryMemoryInAWorkspace) {
  constexpr size_t kPacked = 256 * 256 * sizeof(float);
  PayloadBuilder product;
  const std::vector<uint32_t> dims = {1, 256, 256};
  const uint32_t x = product.input(dims), w = product.input(dims);
  product.binary(Tag::XNNBatchMatrixMultiply, x, w, product.output(dims));
  PayloadBuilder payload = square_plus({1000});
  std::vector<float> all_twos((kPacked + kReadableSlack) / sizeof(float), 2);
  std::vector<float> results(all_twos.size());
  const auto run_product = [&](Delegate& which) {
    Tensor& twos = factory.make(ScalarType::kFloat, {1, 256, 256});
    Tensor& out = factory.make(ScalarType::kFloat, {1, 256, 256});
    twos.set_data(all_twos.data(), true);  // copies would be charged to the budget too
    out.set_data(results.data(), true);
    Error error = execute(which, {&twos, &twos, &out});
    if (error.ok()) {
      EXPECT_THAT(values_of<float>(out), Each(1024));
    }
    return error;
  };
  Budget budget;
  Budget neighbors;
  auto neighbor = load_with(payload, {.program = &program_, .memory = &neighbors});
  EXPECT_THAT(run_on(*neighbor, 1000, 2), Each(6));
  const auto refused = load_with(product, {.program = &program_, .memory = &budget});
  ASSERT_TRUE(budget.take(budget.left() - kPacked / 2));
  const uint64_t used = budget.used();
  EXPECT_THAT(run_product(*refused),
              FailsWith(ErrorCode::kOutOfResources, HasSubstr("max_memory_bytes")));
  EXPECT_EQ(budget.used(), used);
  EXPECT_THAT(run_on(*neighbor, 1000, 3), Each(12));
  if (!xnnpack::operator_times_are_measured())
    return;  // the delegate cannot recover; see FaultTest
  budget.give_back(kPacked);
  const Error again = run_product(*refused);
  EXPECT_TRUE(again.ok()) << again.message();
  EXPECT_GE(budget.used() - (used - kPacked), kPacked - 8192);
  EXPECT_THAT(run_on(*neighbor, 1000, 4), Each(20));
}

TEST_F(SharingTest, DelegatesComputeCorrectlyAfterTheSharedWorkspaceGrows) {
  PayloadBuilder small = square_plus({8});
  PayloadBuilder large = square_plus({100'000});
  const auto first = load_with(small, {.program = &program_});
  const auto second = load_with(large, {.program = &program_});
  EXPECT_THAT(run_on(*first, 8, 2), Each(6));
  EXPECT_THAT(run_on(*second, 100'000, 3), Each(12));
  EXPECT_THAT(run_on(*first, 8, 4), Each(20));
}

TEST_F(SharingTest, WorkspaceOutlivesTheDelegateThatCreatedIt) {
  PayloadBuilder payload = square_plus({64});
  auto first = load_with(payload, {.program = &program_});
  const auto second = load_with(payload, {.program = &program_});
  EXPECT_THAT(run_on(*first, 64, 2), Each(6));
  first.reset();
  EXPECT_THAT(run_on(*second, 64, 3), Each(12));
}

// CI runs this test under ThreadSanitizer.
TEST_F(SharingTest, ThreadsUseASharedWorkspaceOneAtATime) {
  PayloadBuilder payload = square_plus({2000});
  PayloadBuilder larger = square_plus({3000});
  constexpr int kRuns = 300;
  std::array<bool, 3> right{};
  std::array<std::thread, 3> threads;
  for (size_t i = 0; i < threads.size(); ++i) {
    threads[i] = std::thread([&, i] {
      const uint32_t count = i == 2 ? 3000 : 2000;
      const auto own = load_with(i == 2 ? larger : payload, {.program = &program_});
      TensorFactory tensors;
      const auto x = static_cast<float>(i + 1);
      const auto size = static_cast<int32_t>(count);
      Tensor& out = tensors.make(ScalarType::kFloat, {size});
      EValue* arguments[] = {
          &tensors.value(tensors.make<float>({size}, std::vector<float>(count, x))),
          &tensors.value(out)};
      bool good = own != nullptr;
      for (int run = 0; good && run < kRuns; ++run) {
        good = own->execute({}, arguments).ok() && out.data<float>()[count / 2] == x * x + x;
      }
      right[i] = good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, Each(true));
}

class WeightSharingTest : public SharingTest {
 protected:
  // y = x * w^T with a named constant w of `out` x 64.
  static PayloadBuilder linear(uint32_t out, uint32_t flags = 0) {
    PayloadBuilder b(PayloadBuilder::Constants::kNamed);
    const uint32_t x = b.input({1, 64}), y = b.output({1, out});
    std::vector<float> w(size_t{64} * out);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 13) - 6.0f;
    b.fully_connected(x, b.constant<float>({out, 64}, w), kInvalidId, y, flags);
    return b;
  }
  size_t packed(std::initializer_list<const Delegate*> delegates) {
    return bytes(Kind::kPackedWeights, delegates);
  }
};

TEST_F(WeightSharingTest, SharesWeightsReadFromTheSameNamedData) {
  PayloadBuilder payload = linear(64);
  const BuilderData data(payload);
  named_data = &data;
  const auto first = load_with(payload, {});
  const auto second = load_with(payload, {});
  const size_t one = packed({first.get()});
  EXPECT_GE(one, 64u * 64 * 4);
  EXPECT_EQ(packed({first.get(), second.get()}), one);

  const auto alone = load_with(payload, {.weights_cache = false});
  EXPECT_EQ(packed({first.get(), alone.get()}), 2 * one);
}

TEST_F(WeightSharingTest, DoesNotShareWeightsFromDifferentDataWithTheSameNames) {
  PayloadBuilder payload = linear(64);
  const BuilderData data(payload);
  const BuilderData copy(payload);
  named_data = &data;
  const auto first = load_with(payload, {});
  named_data = &copy;
  const auto second = load_with(payload, {});
  EXPECT_EQ(packed({first.get(), second.get()}), 2 * packed({first.get()}));
}

TEST_F(WeightSharingTest, DoesNotShareWeightsThatArePackedDifferently) {
  PayloadBuilder payload = linear(64);
  PayloadBuilder transposed = linear(64, /*flags=*/1);
  const BuilderData data(payload);
  named_data = &data;
  const auto first = load_with(payload, {});
  const auto second = load_with(transposed, {});
  EXPECT_EQ(packed({first.get(), second.get()}), 2 * packed({first.get()}));
  std::vector<float> one_hot(64);
  one_hot[3] = 1;
  Tensor& in = factory.make<float>({1, 64}, one_hot);
  Tensor& out = factory.make(ScalarType::kFloat, {1, 64});
  for (const bool is_transposed : {false, true}) {
    ASSERT_TRUE(execute(is_transposed ? *second : *first, {&in, &out}).ok());
    for (size_t k = 0; k < 64; ++k) {
      const size_t at = is_transposed ? 3 * 64 + k : k * 64 + 3;
      EXPECT_EQ(values_of<float>(out)[k], static_cast<float>(at % 13) - 6.0f) << k;
    }
  }
}

// Static quantization folds the input's zero point into the packed bias, so one filter has two
// packings.
TEST_F(WeightSharingTest, PacksAFilterOncePerInputQuantization) {
  PayloadBuilder b(PayloadBuilder::Constants::kNamed);
  const auto type = Type::xnn_datatype_qint8;
  const uint32_t x = b.input({1, 4}, type, PerTensor{1.0f, 0});
  const uint32_t shifted = b.input({1, 4}, type, PerTensor{1.0f, 10});
  const uint32_t y = b.output({1, 1}, type, PerTensor{1.0f, 0});
  const uint32_t z = b.output({1, 1}, type, PerTensor{1.0f, 0});
  const uint32_t filter = b.constant<int8_t>({1, 4}, {1, 2, 3, 4}, type, PerTensor{1.0f, 0});
  const uint32_t bias =
      b.constant<int32_t>({1}, {5}, Type::xnn_datatype_qint32, PerTensor{1.0f, 0});
  b.fully_connected(x, filter, bias, y);
  b.fully_connected(shifted, filter, bias, z);
  const BuilderData data(b);
  named_data = &data;
  for (int load = 0; load < 2; ++load) {
    const auto own = load_with(b, {});
    Tensor& first = factory.make(ScalarType::kChar, {1, 1});
    Tensor& second = factory.make(ScalarType::kChar, {1, 1});
    ASSERT_TRUE(execute(*own, {&factory.make<int8_t>({1, 4}, {1, 1, 1, 1}),
                               &factory.make<int8_t>({1, 4}, {11, 11, 11, 11}), &first, &second})
                    .ok());
    EXPECT_THAT(values_of<int8_t>(first), ElementsAre(15));
    EXPECT_THAT(values_of<int8_t>(second), ElementsAre(15));
  }
}

}  // namespace
}  // namespace vitrine::test
