// Compares 3 x 3 convolutions of delegates with results in double precision. The trace shows which
// kernel ran: Vitrine's Winograd kernel or XNNPACK's.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include "test/backends/xnnpack/own_kernels_fixture.h"
#include "test/support/scratch_folder.h"
#include "vitrine/half.h"
#include "vitrine/thread_pool.h"

namespace vitrine::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::string_view kWinograd = "Vitrine Winograd Convolution (NHWC, F32)";
constexpr std::string_view kHalfWinograd = "Vitrine Winograd Convolution (NHWC, F16)";

struct ImageSize {
  uint32_t images, height, width;
};

struct SmallWindow {
  uint32_t in_channels, out_channels;
  WindowSpec window = window_of(3, 3).padded(1);
  Bounds bounds = {-kInfinity, kInfinity};
};

class WinogradTest : public DelegateTest {
 protected:
  // Loads a convolution whose payload declares images of this size. Runs may use smaller images.
  void load_convolution(const SmallWindow& c, const ImageSize& size) {
    convolution_ = c;
    weights_ = random_values(size_t{9} * c.in_channels * c.out_channels, 1);
    bias_ = random_values(c.out_channels, 2);
    const Type type = is_half ? Type::xnn_datatype_fp16 : Type::xnn_datatype_fp32;
    PayloadBuilder b;
    const uint32_t x = b.input(in_shape(size), type), y = b.output(out_shape(size), type);
    WindowSpec window = c.window;
    window.group_in = c.in_channels;
    window.group_out = c.out_channels;
    b.convolution(Tag::XNNConv2d, window, x,
                  b.constant<float>({c.out_channels, 3, 3, c.in_channels}, weights_),
                  b.constant<float>({c.out_channels}, bias_), y, c.bounds);
    named_.reset();
    if (are_constants_named) named_data = &named_.emplace(b);
    RecordingTracer recorded;
    tracer = &recorded;
    load(b);
    tracer = nullptr;
    named_data = nullptr;
  }

  bool are_constants_named = false;  // named data outlives the delegate
  bool is_half = false;              // images are f16

  // Runs the convolution and checks its result. Returns true if Vitrine's kernel ran, and false if
  // XNNPACK's kernel ran.
  bool run_and_compare(const ImageSize& size) {
    errors = {};
    const std::vector<float> in = random_values(count_of(in_shape(size)), 3);
    RecordingTracer recorded;
    tracer = &recorded;
    if (is_half) {
      compare<Half>(size, in);
    } else {
      compare<float>(size, in);
    }
    tracer = nullptr;
    return recorded.has_run_exactly(is_half ? kHalfWinograd : kWinograd);
  }

  // Differences between the results of the last run and the results in double precision.
  struct Errors {
    double squares = 0;
    double largest = 0;
  };
  Errors errors;

 private:
  Shape in_shape(const ImageSize& size) const {
    return {size.images, size.height, size.width, convolution_.in_channels};
  }
  Shape out_shape(const ImageSize& size) const {
    const WindowSpec& w = convolution_.window;
    return {size.images, w.result_height(size.height), w.result_width(size.width),
            convolution_.out_channels};
  }
  // Returns values in [-1, 1). If the images are f16, the values are rounded to f16.
  std::vector<float> random_values(size_t count, uint32_t seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) {
      value = uniform(random);
      if (is_half) value = Half(value);
    }
    return values;
  }

  template <class T>
  void compare(const ImageSize& size, const std::vector<float>& in) {
    const SmallWindow& c = convolution_;
    const Shape shape = out_shape(size);
    Tensor& out = factory.make(scalar_type_of<T>, sizes_of(shape));
    run({&factory.make<T>(sizes_of(in_shape(size)), {in.begin(), in.end()}), &out});
    // The tolerance for f16 is large, because XNNPACK rounds sums to f16 after each product.
    const double tolerance = (is_half ? 4e-2 : 1e-5) * std::sqrt(9.0 * c.in_channels);
    for (size_t i = 0; i < count_of(shape); ++i) {
      const ImagePosition at = position_in(shape, i);
      double sum = bias_[at.channel];
      c.window.for_each_pixel(size.height, size.width, at.y, at.x, [&](size_t pixel, size_t tap) {
        const size_t from = (at.image * size.height * size.width + pixel) * c.in_channels;
        const size_t weight = (at.channel * 9 + tap) * c.in_channels;
        for (size_t k = 0; k < c.in_channels; ++k)
          sum += double{in[from + k]} * weights_[weight + k];
      });
      sum = std::clamp(sum, double{c.bounds.min}, double{c.bounds.max});
      const double error = static_cast<float>(out.data<T>()[i]) - sum;
      errors.squares += error * error;
      errors.largest = std::max(errors.largest, std::abs(error));
      ASSERT_LE(std::abs(error), tolerance) << "element " << i;
    }
  }

  std::optional<BuilderData> named_;
  SmallWindow convolution_{};
  std::vector<float> weights_;  // output channel, tap, input channel
  std::vector<float> bias_;
};

bool can_replace() { return xnnpack::OwnKernels::are_built(); }

struct ConvolutionCase {
  SmallWindow convolution;
  ImageSize size;
};
const ConvolutionCase kConvolutions[] = {
    {{32, 32}, {1, 16, 16}},
    {{33, 65}, {1, 17, 19}},
    {{40, 30, window_of(3, 3).padded(0, 0, 0, 0)}, {3, 18, 14}},
    {{24, 100, window_of(3, 3).padded(2, 0, 1, 2), {-1, 1}}, {1, 20, 21}},
    {{64, 48, window_of(3, 3).padded(1), {0, kInfinity}}, {2, 15, 8}},
    {{256, 256}, {1, 7, 7}},  // tiles of 2
};

// The name of this test must not match the filter of the preset `tsan`: ThreadSanitizer cannot see
// the synchronization of pthreadpool, and would report races between tasks of a delegate.
TEST_F(WinogradTest, MatchesSumsOfProductsOnPoolsOfAnySize) {
  for (const size_t threads : {1, 2, 5}) {
    const auto made = ThreadPool::create(threads, ThreadPool::Use::kAlways);
    ASSERT_TRUE(made.ok());
    pool = made->get();
    for (const ConvolutionCase& c : kConvolutions) {
      has_fixed_sizes = c.convolution.in_channels % 3 == 0;
      SCOPED_TRACE(testing::Message() << threads << " threads, " << c.size.height << " x "
                                      << c.size.width << ", " << c.convolution.in_channels << " to "
                                      << c.convolution.out_channels << " channels");
      load_convolution(c.convolution, c.size);
      EXPECT_EQ(run_and_compare(c.size), can_replace());
      if (HasFatalFailure()) return;
    }
    delegate.reset();
  }
}

const ConvolutionCase kHalfConvolutions[] = {
    {{64, 64}, {1, 24, 24}},
    {{65, 100, window_of(3, 3).padded(2, 0, 1, 2), {-1, 1}}, {1, 23, 24}},
};

// On CPUs with f16 arithmetic, XNNPACK's kernel runs with and without the option "exact".
TEST_F(WinogradTest, F16HasAtMostFourTimesTheErrorOfXnnpack) {
  is_half = true;
  const bool is_replaced = xnnpack::OwnKernels::have_f16_winograd();
  for (const ConvolutionCase& c : kHalfConvolutions) {
    SCOPED_TRACE(testing::Message()
                 << c.size.height << " x " << c.size.width << ", " << c.convolution.in_channels
                 << " to " << c.convolution.out_channels << " channels");
    has_fixed_sizes = c.convolution.in_channels % 2 == 0;
    Errors found[2];
    for (const bool exact : {false, true}) {
      set_option("exact", exact);
      load_convolution(c.convolution, c.size);
      if (IsSkipped()) return;
      EXPECT_EQ(run_and_compare(c.size), is_replaced && !exact);
      if (HasFatalFailure()) return;
      found[exact ? 1 : 0] = errors;
    }
    EXPECT_LE(std::sqrt(found[0].squares), 4 * std::sqrt(found[1].squares));
    EXPECT_LE(found[0].largest, 4 * found[1].largest);
  }
}

TEST_F(WinogradTest, SupportsReshapesAndLeavesTinyImagesToXnnpack) {
  load_convolution({48, 48}, {2, 40, 40});
  EXPECT_EQ(run_and_compare({2, 40, 40}), can_replace());
  EXPECT_EQ(run_and_compare({1, 17, 30}), can_replace());
  EXPECT_FALSE(run_and_compare({1, 1, 1}));
  EXPECT_FALSE(run_and_compare({2, 1, 3}));
  EXPECT_EQ(run_and_compare({1, 39, 40}), can_replace());
}

// A delegate with fixed sizes packs the weights only for Vitrine's kernel. If a call still has
// other sizes, Vitrine's kernel must run, even for tiny images, because XNNPACK's kernel has no
// weights.
TEST_F(WinogradTest, DelegatesWithFixedSizesAlwaysRunVitrinesKernel) {
  has_fixed_sizes = true;
  load_convolution({48, 48}, {2, 40, 40});
  for (const ImageSize size : {ImageSize{2, 40, 40}, {1, 17, 30}, {1, 1, 1}, {2, 1, 3}}) {
    EXPECT_EQ(run_and_compare(size), can_replace());
  }
}

// Two convolutions use the same filter. Vitrine's kernel runs the first, and XNNPACK's kernel runs
// the second.
TEST_F(WinogradTest, SharesAFilterWithXnnpack) {
  has_fixed_sizes = true;
  constexpr uint32_t kChannels = 32;
  const WindowSpec window = window_of(3, 3, kChannels, kChannels).padded(1);
  const WindowSpec strided = window.strided(2, 2);
  std::vector<float> weights(size_t{9} * kChannels * kChannels);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i * 7 % 11) - 5;
  PayloadBuilder b;
  const uint32_t x = b.input({1, 32, 32, kChannels});
  const uint32_t same = b.output({1, 32, 32, kChannels});
  const uint32_t half = b.output({1, 16, 16, kChannels});
  const uint32_t filter = b.constant<float>({kChannels, 3, 3, kChannels}, weights);
  b.convolution(Tag::XNNConv2d, window, x, filter, kInvalidId, same);
  b.convolution(Tag::XNNConv2d, strided, x, filter, kInvalidId, half);
  load(b);
  std::vector<float> in(size_t{32} * 32 * kChannels);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 5 % 13) - 6;
  Tensor& first = factory.make(ScalarType::kFloat, {1, 32, 32, kChannels});
  Tensor& second = factory.make(ScalarType::kFloat, {1, 16, 16, kChannels});
  run({&factory.make<float>({1, 32, 32, kChannels}, in), &first, &second});
  // The second result has every other pixel of the first result.
  for (size_t i = 0; i < size_t{16} * 16 * kChannels; ++i) {
    const size_t y = i / kChannels / 16, column = i / kChannels % 16;
    const size_t at = ((2 * y) * 32 + 2 * column) * kChannels + i % kChannels;
    ASSERT_NEAR(second.data<float>()[i], first.data<float>()[at], 0.05) << i;
  }
}

TEST_F(WinogradTest, LeavesConvolutionsWithFewChannelsToXnnpack) {
  for (const SmallWindow& c : {SmallWindow{3, 64}, SmallWindow{16, 3}}) {
    load_convolution(c, {1, 32, 32});
    EXPECT_FALSE(run_and_compare({1, 32, 32}));
  }
}

TEST_F(WinogradTest, LeavesAllConvolutionsToXnnpackIfOptionsRequireIt) {
  for (const std::string_view key : {"exact", "vitrine_kernels"}) {
    set_option(key, key == "exact");
    load_convolution({32, 32}, {1, 16, 16});
    EXPECT_FALSE(run_and_compare({1, 16, 16}));
  }
}

TEST_F(WinogradTest, CountsTransformedWeightsAndRespectsTheBudget) {
  if (!can_replace()) GTEST_SKIP() << "this build lacks kernels for delegates";
  const auto bytes = [&](bool exact, DelegateMemory::Kind kind) {
    set_option("exact", exact);
    load_convolution({64, 64}, {1, 16, 16});
    EXPECT_TRUE(delegate && delegate->plan_memory().ok());
    options = {};
    return memory_bytes(kind);
  };
  using Memory = DelegateMemory::Kind;
  constexpr size_t kTransformed = (36 * 64 * 64 + 64) * sizeof(float);
  const size_t without = bytes(true, Memory::kPackedWeights);
  EXPECT_EQ(bytes(false, Memory::kPackedWeights), without + kTransformed);
  const size_t with_tables = bytes(true, Memory::kWorkspace);
  has_fixed_sizes = true;
  EXPECT_EQ(bytes(false, Memory::kPackedWeights), kTransformed);
  // XNNPACK's kernel needs a table that has a pointer for each tap of each pixel. Vitrine's kernel
  // needs memory for transformed tiles instead.
  constexpr size_t kTable = 9 * 16 * 16 * sizeof(void*);
  constexpr size_t kTiles = size_t{16} * 36 * 2 * 64 * sizeof(float);
  EXPECT_LT(bytes(false, Memory::kWorkspace), with_tables - kTable + 2 * kTiles);

  // The small budget has room for weights in XNNPACK's layout, but not in Vitrine's transformed
  // layout.
  for (const bool is_large : {false, true}) {
    SCOPED_TRACE(is_large);
    Budget budget(is_large ? 1 << 23 : 1 << 19);
    memory_budget = &budget;
    load_convolution({64, 64}, {1, 16, 16});
    EXPECT_EQ(run_and_compare({1, 16, 16}), is_large);
    if (is_large) {
      EXPECT_GT(budget.used(), kTransformed);
    }
    delegate.reset();
    EXPECT_EQ(budget.used(), 0U);
  }
}

TEST_F(WinogradTest, WeightsCacheStoresTransformedWeights) {
  if (!can_replace()) GTEST_SKIP() << "this build lacks kernels for delegates";
  const ScratchFolder folder;
  const std::string path = folder / "weights";
  set_option("packed_cache_path", std::string_view(path));
  has_fixed_sizes = true;
  are_constants_named = true;
  constexpr size_t kTransformed = (36 * 64 * 64 + 64) * sizeof(float);
  for (const bool is_warm : {false, true}) {
    delegate.reset();
    load_convolution({64, 64}, {1, 16, 16});
    ASSERT_TRUE(delegate && delegate->finish_load().ok());
    EXPECT_EQ(memory_bytes(is_warm ? DelegateMemory::Kind::kMappedWeights
                                   : DelegateMemory::Kind::kPackedWeights),
              kTransformed);
    EXPECT_TRUE(run_and_compare({1, 16, 16}));
  }
}

}  // namespace
}  // namespace vitrine::test
