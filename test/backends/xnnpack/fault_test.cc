// Tests a delegate, and the delegates that share its workspace, after a failure inside XNNPACK.
#include <gmock/gmock.h>

#include <iostream>

#include "test/backends/xnnpack/delegate_fixture.h"
#include "test/support/allocation_counter.h"

namespace vitrine::test {
namespace {

using testing::Each;

class FaultTest : public DelegateTest {
 protected:
  std::unique_ptr<Delegate> load_square_plus() {
    BackendInitContext context;
    context.program = &program_;
    auto loaded = backend_.init(context, square_plus({8}).build(), {});
    EXPECT_TRUE(loaded.ok()) << loaded.error().message();
    return loaded.ok() ? std::move(*loaded) : nullptr;
  }

  struct Call {
    Tensor* in;
    Tensor* out;
    std::array<EValue*, 2> arguments;
  };
  Call call(int32_t count, float x) {
    Call made;
    made.in = &factory.make<float>({count}, std::vector<float>(static_cast<size_t>(count), x));
    made.out = &factory.make(ScalarType::kFloat, {count});
    made.arguments = {&factory.value(*made.in), &factory.value(*made.out)};
    return made;
  }
  void expect_right(Delegate& which, int32_t count, float x) {
    Call made = call(count, x);
    const Error error = which.execute({}, made.arguments);
    ASSERT_TRUE(error.ok()) << error.message();
    EXPECT_THAT(values_of<float>(*made.out), Each(x * x + x)) << count;
  }

  // Checks a call that follows a failed call. Builds that cannot recover must fail in all later
  // calls.
  void expect_right_or_dead(Delegate& which, int32_t count, float x) {
    Call made = call(count, x);
    if (xnnpack::operator_times_are_measured() ||
        which.execute({}, made.arguments).code() != ErrorCode::kInvalidState) {
      return expect_right(which, count, x);
    }
    EXPECT_EQ(which.execute({}, made.arguments).code(), ErrorCode::kInvalidState);
  }

  XnnpackBackend backend_;
  int program_ = 0;
};

// AddressSanitizer detects writes past the end of a workspace or to a freed workspace. Other builds
// detect only wrong results.
TEST_F(FaultTest, DelegatesComputeCorrectlyAfterAFailedReshape) {
  int failures = 0;
  for (int n = 1;; ++n) {
    SCOPED_TRACE(n);
    const auto first = load_square_plus();
    const auto second = load_square_plus();
    const auto third = load_square_plus();
    ASSERT_TRUE(first && second && third);
    for (const auto* each : {&first, &second, &third}) expect_right(**each, 8, 2);
    Call large = call(1 << 16, 3);
    fail_allocation(n);
    const Error error = first->execute({}, large.arguments);
    const bool failed = allocation_has_failed();
    fail_allocation(0);
    if (!failed) break;
    ++failures;
    EXPECT_TRUE(error.ok() || *error.message() != 0);
    expect_right(*second, 1 << 15, 3);  // grows the workspace
    expect_right(*third, 8, 4);
    expect_right_or_dead(*first, 1 << 14, 5);
    expect_right_or_dead(*first, 1 << 16, 6);
    expect_right(*second, 1 << 15, 7);
    expect_right(*third, 1 << 10, 8);
  }
  EXPECT_GE(failures, 4) << "must include the failure of the workspace";
  std::cout << failures << " allocations failed\n";
}

// Two convolutions swap their image sizes in the second call: the large image becomes small, and
// the small image becomes large. After a failed reshape, both convolutions may hold large tables,
// so the budget must be charged for two large tables.
TEST_F(FaultTest, TablesCountTowardTheBudgetAfterAFailedReshape) {
  PayloadBuilder b;
  const uint32_t filter = b.constant({2, 3, 3, 1}, std::vector<float>(18, 1));
  for (int i = 0; i < 2; ++i) {
    const uint32_t x = b.input({1, 64, 64, 1});
    b.convolution(Tag::XNNConv2d, {.kernel_height = 3, .kernel_width = 3, .group_out = 2}, x,
                  filter, kInvalidId, b.output({1, 62, 62, 2}));
  }
  Budget budget;
  memory_budget = &budget;
  const auto images = [&](int32_t side) {
    const std::vector<float> ones(static_cast<size_t>(side * side), 1);
    return std::pair(&factory.value(factory.make<float>({1, side, side, 1}, ones)),
                     &factory.value(factory.make(ScalarType::kFloat, {1, side - 2, side - 2, 2})));
  };
  const auto [small_in, small_out] = images(16);
  const auto [large_in, large_out] = images(64);
  const std::array<EValue*, 4> sizes = {large_in, large_out, small_in, small_out};
  const std::array<EValue*, 4> other_sizes = {small_in, small_out, large_in, large_out};
  constexpr uint64_t kGrowth = sizeof(void*) * 9 * (62 * 62 - 14 * 14);
  int held = 0;
  for (int n = 1;; ++n) {
    load(b);
    ASSERT_TRUE(delegate->execute({}, sizes).ok());
    const uint64_t before = budget.used();
    fail_allocation(n);
    const Error error = delegate->execute({}, other_sizes);
    const bool failed = allocation_has_failed();
    fail_allocation(0);
    if (!failed) break;
    if (!error.ok() && budget.used() == before + kGrowth) ++held;
    if (!xnnpack::operator_times_are_measured()) continue;
    ASSERT_TRUE(delegate->execute({}, other_sizes).ok());
    EXPECT_EQ(budget.used(), before);
  }
  EXPECT_GE(held, xnnpack::operator_times_are_measured() ? 2 : 0) << "must include the tables";
  delegate.reset();
  EXPECT_EQ(budget.used(), 0u);
}

// Tests operators whose lists and buffers in XNNPACK depend on the sizes of a call.
class WindowFaultTest : public FaultTest {
 protected:
  struct Sizes {
    int32_t height, width, channels;
  };

  void load_windows() {
    PayloadBuilder b;
    const uint32_t x = b.input({1, 8, 8, 4}), image = b.input({1, 8, 8, 1});
    const WindowSpec w = window_of(3, 3).padded(1).strided(2, 2);
    b.pooling(Tag::XNNMaxPooling2d, w, x, b.output({1, 4, 4, 4}));
    b.unary(Tag::XNNGlobalAvgPooling2d, x, b.output({1, 1, 1, 4}), /*flags: keep dims=*/0x40);
    const WindowSpec undilated = w.dilated(0, 0);  // as in payloads of ExecuTorch
    b.pooling(Tag::XNNAvgPooling2d, undilated, x, b.output({1, 4, 4, 4}));
    const WindowSpec upsampling = window_of(3, 3).strided(2, 2);
    const uint32_t filter = b.constant<float>({1, 3, 3, 1}, {1, 0, 0, 0, 0, 0, 0, 0, 0});
    b.convolution(Tag::XNNConvTranspose2d, upsampling, image, filter, kInvalidId,
                  b.output({1, 17, 17, 1}));
    load(b);
  }

  struct WindowCall {
    explicit WindowCall(TensorFactory& factory, const Sizes& sizes) {
      const auto [height, width, channels] = sizes;
      const auto add = [&](Tensor& tensor) {
        tensors.push_back(&tensor);
        arguments.push_back(&factory.value(tensor));
      };
      const auto pixels = static_cast<size_t>(height * width);
      std::vector<float> image(pixels);
      for (size_t i = 0; i < pixels; ++i) image[i] = static_cast<float>(i + 1);
      const std::vector<float> fives(pixels * static_cast<size_t>(channels), 5);
      add(factory.make<float>({1, height, width, channels}, fives));
      add(factory.make<float>({1, height, width, 1}, image));
      const int32_t rows = (height + 1) / 2, columns = (width + 1) / 2;
      add(factory.make(ScalarType::kFloat, {1, rows, columns, channels}));
      add(factory.make(ScalarType::kFloat, {1, 1, 1, channels}));
      add(factory.make(ScalarType::kFloat, {1, rows, columns, channels}));
      add(factory.make(ScalarType::kFloat, {1, 2 * height + 1, 2 * width + 1, 1}));
    }
    std::vector<Tensor*> tensors;
    std::vector<EValue*> arguments;
  };

  void expect_right_windows(const Sizes& sizes) {
    SCOPED_TRACE(testing::Message() << sizes.height << " x " << sizes.width);
    WindowCall call(factory, sizes);
    const Error error = delegate->execute({}, call.arguments);
    ASSERT_TRUE(error.ok()) << error.message();
    for (const size_t k : {2, 3, 4}) EXPECT_THAT(values_of<float>(*call.tensors[k]), Each(5)) << k;
    const Tensor& upsampled = *call.tensors[5];
    const auto height = static_cast<size_t>(upsampled.size(1));
    const auto width = static_cast<size_t>(upsampled.size(2));
    for (size_t i = 0; i < static_cast<size_t>(upsampled.numel()); ++i) {
      const size_t row = i / width, column = i % width;
      const bool is_pixel =
          row % 2 == 0 && column % 2 == 0 && row + 1 != height && column + 1 != width;
      const size_t pixel = row / 2 * (width / 2) + column / 2;
      ASSERT_EQ(upsampled.data<float>()[i], is_pixel ? static_cast<float>(pixel + 1) : 0) << i;
    }
  }
};

TEST_F(WindowFaultTest, LaterCallsDoNotUseListsOfAFailedReshape) {
  // With these sizes, XNNPACK's lists are larger than the memory reserve.
  constexpr Sizes kSizes[] = {{74, 76, 2}, {80, 72, 3}, {88, 70, 3}};
  const bool can_resize = xnnpack::operator_times_are_measured();
  for (size_t faulty = 0; faulty < (can_resize ? 2 : 1); ++faulty) {
    int failures = 0;
    for (int n = 1;; ++n) {
      // `after` selects the sizes of the next call: 0 repeats the failed sizes, and 1 and 2 use the
      // other items of kSizes. For 3, no call follows.
      bool failed = false;
      for (size_t after = 0; after < 4; ++after) {
        SCOPED_TRACE(testing::Message() << faulty << " " << n << " " << after);
        load_windows();
        ASSERT_TRUE(delegate);
        if (faulty == 1) expect_right_windows(kSizes[0]);
        WindowCall call(factory, kSizes[faulty]);
        fail_allocation(n);
        const Error error = delegate->execute({}, call.arguments);
        failed = allocation_has_failed();
        fail_allocation(0);
        if (!failed) break;
        if (!error.ok() && !can_resize) {
          EXPECT_EQ(delegate->execute({}, call.arguments).code(), ErrorCode::kInvalidState);
          continue;
        }
        if (after == 3 || (after != 0 && !can_resize)) continue;
        expect_right_windows(kSizes[(faulty + after) % 3]);
        if (HasFailure()) return;
      }
      if (!failed) break;
      ++failures;
    }
    EXPECT_GE(failures, 8);
    std::cout << failures << " allocations failed\n";
  }
}

}  // namespace
}  // namespace vitrine::test
