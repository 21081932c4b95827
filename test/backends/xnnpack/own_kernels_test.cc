// Compares the operators of delegates that Vitrine's kernels run with their formulas. Each test
// runs with these kernels and with XNNPACK's.
#include <algorithm>
#include <cmath>
#include <string>

#include "test/backends/xnnpack/delegate_fixture.h"

namespace vitrine::test {
namespace {

using Shape = std::vector<uint32_t>;

std::vector<int32_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

class OwnKernelsTest : public DelegateTest, public testing::WithParamInterface<bool> {
 protected:
  OwnKernelsTest() { options = option_; }

  // Runs a delegate from one input to one output. Checks that the right kernel ran.
  std::vector<float> result(PayloadBuilder& b, const Shape& in_shape, const std::vector<float>& in,
                            const Shape& out_shape, std::string_view vitrine_name) {
    RecordingTracer recorded;
    tracer = &recorded;
    load(b);
    if (!delegate) return {};  // load() reported why
    Tensor& out = factory.make(ScalarType::kFloat, sizes_of(out_shape));
    run({&factory.make<float>(sizes_of(in_shape), in), &out});
    tracer = nullptr;
    if (xnnpack::operator_times_are_measured()) {
      const bool is_own = std::ranges::any_of(recorded.records, [&](const TraceRecord& record) {
        const auto* const name = static_cast<const char*>(record.metadata);
        return std::string_view(name, record.metadata_size) == vitrine_name;
      });
      EXPECT_EQ(is_own, GetParam());
    }
    return {out.data<float>(), out.data<float>() + out.numel()};
  }

 private:
  const BackendOption option_[1] = {{"XnnpackBackend", "vitrine_kernels", GetParam()}};
};
INSTANTIATE_TEST_SUITE_P(WithAndWithout, OwnKernelsTest, testing::Bool());

// A depthwise convolution of whole numbers, which f32 adds exactly.
struct Depthwise {
  const char* name;
  uint32_t channels;
  uint32_t height, width;
  WindowSpec window;
  uint32_t images = 1;
  Bounds bounds = {};

  uint32_t out_height() const {
    return (height + window.top + window.bottom -
            (window.kernel_height - 1) * window.dilation_height - 1) /
               window.stride_height +
           1;
  }
  uint32_t out_width() const {
    return (width + window.left + window.right - (window.kernel_width - 1) * window.dilation_width -
            1) /
               window.stride_width +
           1;
  }
  Shape in_shape() const { return {images, height, width, channels}; }
  Shape out_shape() const { return {images, out_height(), out_width(), channels}; }
};

float depthwise_pixel(size_t i) { return static_cast<float>(i * 7 % 11) - 5; }
float depthwise_weight(size_t i) { return static_cast<float>(i * 5 % 7) - 3; }
float depthwise_bias(size_t channel) { return static_cast<float>(channel % 5) - 2; }

float depthwise_sum(const Depthwise& c, uint32_t image, uint32_t y, uint32_t x, uint32_t channel) {
  const WindowSpec& w = c.window;
  float sum = depthwise_bias(channel);
  for (uint32_t ky = 0; ky < w.kernel_height; ++ky) {
    for (uint32_t kx = 0; kx < w.kernel_width; ++kx) {
      const int64_t in_y = int64_t{y} * w.stride_height - w.top + int64_t{ky} * w.dilation_height;
      const int64_t in_x = int64_t{x} * w.stride_width - w.left + int64_t{kx} * w.dilation_width;
      if (in_y < 0 || in_y >= c.height || in_x < 0 || in_x >= c.width) continue;
      const auto at =
          static_cast<size_t>(((image * c.height + in_y) * c.width + in_x) * c.channels);
      const size_t tap = (size_t{ky} * w.kernel_width + kx) * c.channels;
      sum += depthwise_pixel(at + channel) * depthwise_weight(tap + channel);
    }
  }
  return std::clamp(sum, c.bounds.min, c.bounds.max);
}

const Depthwise kDepthwise[] = {
    {"Padded",
     17,
     9,
     11,
     {.top = 3, .right = 3, .bottom = 3, .left = 3, .kernel_height = 7, .kernel_width = 7}},
    {"SeveralImages",
     64,
     8,
     8,
     {.top = 3, .right = 3, .bottom = 3, .left = 3, .kernel_height = 7, .kernel_width = 7},
     3},
    {"Strided",
     100,
     13,
     12,
     {.top = 2,
      .right = 3,
      .bottom = 4,
      .left = 1,
      .kernel_height = 6,
      .kernel_width = 5,
      .stride_height = 2,
      .stride_width = 3}},
    {"Dilated",
     3,
     20,
     30,
     {.top = 6,
      .right = 4,
      .bottom = 6,
      .left = 4,
      .kernel_height = 7,
      .kernel_width = 5,
      .dilation_height = 2,
      .dilation_width = 3}},
    {"Clamped",
     33,
     10,
     10,
     {.top = 4, .right = 4, .bottom = 4, .left = 4, .kernel_height = 9, .kernel_width = 9},
     1,
     {0, 60}},
    {"WindowAroundImage",
     5,
     2,
     3,
     {.top = 15, .right = 15, .bottom = 15, .left = 15, .kernel_height = 31, .kernel_width = 31}},
    {"Line", 40, 1, 50, {.right = 16, .left = 16, .kernel_width = 33}},
};

TEST_P(OwnKernelsTest, DepthwiseConvolutionsEqualTheirSums) {
  for (const Depthwise& c : kDepthwise) {
    SCOPED_TRACE(c.name);
    PayloadBuilder b;
    const uint32_t x = b.input(c.in_shape()), y = b.output(c.out_shape());
    std::vector<float> in(size_t{c.images} * c.height * c.width * c.channels);
    std::vector<float> weights(size_t{c.window.kernel_height} * c.window.kernel_width * c.channels);
    std::vector<float> bias(c.channels);
    for (size_t i = 0; i < in.size(); ++i) in[i] = depthwise_pixel(i);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = depthwise_weight(i);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] = depthwise_bias(i);
    WindowSpec window = c.window;
    window.groups = c.channels;
    b.convolution(
        Tag::XNNDepthwiseConv2d, window, x,
        b.constant<float>({1, window.kernel_height, window.kernel_width, c.channels}, weights),
        b.constant<float>({c.channels}, bias), y, c.bounds);
    const std::vector<float> out =
        result(b, c.in_shape(), in, c.out_shape(), "Vitrine Depthwise Convolution (NHWC, F32)");
    ASSERT_EQ(out.size(), size_t{c.images} * c.out_height() * c.out_width() * c.channels);
    size_t i = 0;
    for (uint32_t image = 0; image < c.images; ++image) {
      for (uint32_t row = 0; row < c.out_height(); ++row) {
        for (uint32_t column = 0; column < c.out_width(); ++column) {
          for (uint32_t channel = 0; channel < c.channels; ++channel, ++i) {
            ASSERT_EQ(out[i], depthwise_sum(c, image, row, column, channel))
                << "image " << image << ", row " << row << ", column " << column << ", channel "
                << channel;
          }
        }
      }
    }
  }
}

TEST_P(OwnKernelsTest, SoftmaxMatchesFormulaForRowsOfEachLength) {
  constexpr uint32_t kRows = 5;
  for (const uint32_t length : {1U, 7U, 8U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 65U, 300U, 5000U}) {
    SCOPED_TRACE(length);
    PayloadBuilder b;
    const Shape shape{kRows, length};
    const uint32_t x = b.input(shape), y = b.output(shape);
    b.unary(Tag::XNNSoftmax, x, y);
    std::vector<float> in(size_t{kRows} * length);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 101) / 10 - 5;
    const std::vector<float> out = result(b, shape, in, shape, "Vitrine Softmax (NC, F32)");
    ASSERT_EQ(out.size(), in.size());
    for (size_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (size_t i = 0; i < length; ++i) sum += std::exp(double{in[row * length + i]});
      for (size_t i = 0; i < length; ++i) {
        const double expected = std::exp(double{in[row * length + i]}) / sum;
        ASSERT_NEAR(out[row * length + i], expected, expected * 2e-6);
      }
    }
  }
}

TEST_P(OwnKernelsTest, ExponentialMatchesFormula) {
  for (const uint32_t length : {1U, 15U, 16U, 100U, 3000U}) {
    SCOPED_TRACE(length);
    PayloadBuilder b;
    const Shape shape{3, length};
    const uint32_t x = b.input(shape), y = b.output(shape);
    b.unary(Tag::XNNExp, x, y);
    std::vector<float> in(size_t{3} * length);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 37 % 1601) / 10 - 80;
    const std::vector<float> out = result(b, shape, in, shape, "Vitrine Exponential (NC, F32)");
    ASSERT_EQ(out.size(), in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      const double expected = std::exp(double{in[i]});
      ASSERT_NEAR(out[i], expected, expected * 1e-6) << "of " << in[i];
    }
  }
}

TEST_F(DelegateTest, CopiedDepthwiseWeightsCountAsPackedWeights) {
  if (!xnnpack::operator_times_are_measured()) GTEST_SKIP() << "needs XNNPACK's private headers";
  const auto packed_bytes = [&](bool own) {
    const BackendOption option[] = {{"XnnpackBackend", "vitrine_kernels", own}};
    options = option;
    PayloadBuilder b;
    const uint32_t x = b.input({1, 8, 8, 16}), y = b.output({1, 2, 2, 16});
    b.convolution(Tag::XNNDepthwiseConv2d, {.kernel_height = 7, .kernel_width = 7, .groups = 16}, x,
                  b.constant<float>({1, 7, 7, 16}, std::vector<float>(7 * 7 * 16)), kInvalidId, y);
    load(b);
    DelegateMemory memory;
    delegate->report_memory(memory);
    return memory.bytes(DelegateMemory::Kind::kPackedWeights);
  };
  EXPECT_EQ(packed_bytes(true), packed_bytes(false) + (1 + 7 * 7) * 16 * sizeof(float));
}

}  // namespace
}  // namespace vitrine::test
